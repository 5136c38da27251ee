// SPDX-License-Identifier: MIT
// Asks at once again until the server says 200. Both kinds of client keep their connections.
// Usage: StatusLoop url|client HOST PORT [TIMEOUT in ms]
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class StatusLoop {
    static final HttpClient client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static String byUrl(URI uri, int timeout) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        connection.setReadTimeout(timeout);
        boolean good = connection.getResponseCode() == 200;
        try (InputStream in = good ? connection.getInputStream() : connection.getErrorStream()) {
            String text = new String(in.readAllBytes());
            return good ? text : null;
        }
    }

    static String byClient(URI uri) throws IOException, InterruptedException {
        HttpResponse<String> reply = client.send(HttpRequest.newBuilder(uri).build(),
            HttpResponse.BodyHandlers.ofString());
        return reply.statusCode() == 200 ? reply.body() : null;
    }

    public static void main(String[] args) throws Exception {
        URI uri = URI.create("http://" + args[1] + ":" + args[2] + "/");
        int timeout = args.length > 3 ? Integer.parseInt(args[3]) : 0;
        while (true) {
            try {
                String text = args[0].equals("url") ? byUrl(uri, timeout) : byClient(uri);
                if (text != null) {
                    System.out.print(text);
                    return;
                }
            } catch (IOException e) {
                System.err.println(e);
            }
        }
    }
}
