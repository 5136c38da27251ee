// SPDX-License-Identifier: MIT
// One healthy conversation and connections to nobody, on a java.nio selector (README.md).
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

public class MixedNio {
    private static final long LEAST = 1500000000L; // ns
    private static Selector selector;
    private static int dead;
    private static long dials;

    private static void dial() throws IOException {
        dials++;
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        try {
            channel.connect(new InetSocketAddress("127.0.0.1", dead));
            channel.register(selector, SelectionKey.OP_CONNECT);
        } catch (IOException e) {
            channel.close();
        }
    }

    public static void main(String[] arguments) throws IOException {
        int requests = Integer.parseInt(arguments[2]), done = 0, got = 0, idle = 0;
        int dialers = Integer.parseInt(arguments[3]);
        byte[] line = "ping\n".getBytes();
        ByteBuffer answer = ByteBuffer.allocate(64);
        StringBuilder took = new StringBuilder();

        dead = Integer.parseInt(arguments[1]);
        selector = Selector.open();
        SocketChannel healthy = SocketChannel.open(
            new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
        healthy.setOption(StandardSocketOptions.TCP_NODELAY, true);
        healthy.configureBlocking(false);
        healthy.register(selector, SelectionKey.OP_READ);
        for (int i = 0; i < dialers; i++)
            dial();
        long began = System.nanoTime(), started = began;
        healthy.write(ByteBuffer.wrap(line));
        while (done < requests || System.nanoTime() - started < LEAST) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                SocketChannel channel = (SocketChannel) key.channel();
                if (channel == healthy) {
                    answer.clear();
                    got += healthy.read(answer);
                    if (got < line.length)
                        continue;
                    got = 0;
                    took.append((System.nanoTime() - began) / 1000).append('\n');
                    done++;
                    began = System.nanoTime();
                    healthy.write(ByteBuffer.wrap(line));
                    continue;
                }
                try {
                    channel.finishConnect();
                } catch (IOException e) {
                    key.cancel();
                    channel.close();
                    idle++;
                }
            }
            selector.selectedKeys().clear();
            for (; idle > 0; idle--)
                dial();
        }
        System.out.print(took + "dials " + dials + "\n");
        System.exit(0);
    }
}
