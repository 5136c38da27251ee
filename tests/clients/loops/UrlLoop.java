// SPDX-License-Identifier: MIT
// java.net.HttpURLConnection with its default settings.
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;

public class UrlLoop {
    static byte[] fetch(URL url) throws IOException {
        try (InputStream page = url.openStream()) {
            return page.readAllBytes();
        }
    }

    public static void main(String[] args) throws IOException {
        URL url = new URL("http://" + args[1] + ":" + args[2] + "/");
        int left = args[0].equals("get") ? Integer.parseInt(args[3]) : 1;
        String said = "";
        while (left > 0) {
            try {
                System.out.write(fetch(url));
                left--;
            } catch (IOException e) {
                if (args[0].equals("get")) {
                    throw e;
                }
                if (!said.equals(String.valueOf(e.getMessage()))) {
                    said = String.valueOf(e.getMessage());
                    System.err.println(said);
                }
            }
        }
        System.out.flush();
    }
}
