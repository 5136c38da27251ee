// SPDX-License-Identifier: MIT
// java.net.Socket without a timeout: a plain blocking connect.
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;

public class SocketLoop {
    static String fetch(String host, int port) throws IOException {
        try (Socket socket = new Socket(host, port)) {
            socket.getOutputStream().write("hello from java\n".getBytes());
            String line =
                new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
            if (!"hello from java".equals(line)) {
                throw new EOFException("no answer");
            }
            return line;
        }
    }

    public static void main(String[] args) throws IOException {
        int left = args[0].equals("get") ? Integer.parseInt(args[3]) : 1;
        String said = "";
        while (left > 0) {
            try {
                System.out.println(fetch(args[1], Integer.parseInt(args[2])));
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
    }
}
