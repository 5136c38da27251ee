// SPDX-License-Identifier: MIT
// Jobs in Java, 8 threads: Jobs.java SECONDS RATE TRIES PORT=KIND...
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Jobs {
    static String ask(String port, String path) {
        try {
            HttpURLConnection connection =
                (HttpURLConnection) new URL("http://127.0.0.1:" + port + path).openConnection();
            connection.setReadTimeout(2000);
            connection.setRequestProperty("Connection", "close");
            try (InputStream in = connection.getInputStream()) {
                return new String(in.readAllBytes()).equals(path) ? "ok" : "WRONG";
            }
        } catch (ConnectException e) {
            return "ECONNREFUSED";
        } catch (IOException e) {
            return "EOF";
        }
    }

    public static void main(String[] words) throws Exception {
        double seconds = Double.parseDouble(words[0]), rate = Double.parseDouble(words[1]);
        int tries = Integer.parseInt(words[2]), targets = words.length - 3;
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(8);
        long started = System.nanoTime();
        for (int i = 0; i < seconds * rate; i++) {
            String[] target = words[3 + i % targets].split("=");
            String path = "/" + target[1] + i;
            long due = started + (long) (i / rate * 1e9);
            pool.schedule(() -> {
                String word = null;
                for (int t = 0; t < tries && !"ok".equals(word); t++) {
                    word = ask(target[0], path);
                }
                System.out.printf("%s %.2f %s%n", target[1], (System.nanoTime() - due) / 1e6, word);
            }, due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        pool.shutdown();
        pool.awaitTermination((long) seconds + 10, TimeUnit.SECONDS);
        System.exit(0);
    }
}
