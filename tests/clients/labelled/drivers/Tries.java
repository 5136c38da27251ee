// SPDX-License-Identifier: MIT
// HttpURLConnection or HttpClient, in one thread or several; up to TRIES tries for each unit, with
// a pause between them. Usage: HOST PORT COUNT url|client THREADS TRIES

import java.io.FileInputStream;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class Tries {
	private static final HttpClient client = HttpClient.newHttpClient();

	private static void say(String unit) {
		try {
			new FileInputStream("/.unit/" + unit).close();
		} catch (IOException expected) {
			// The witness has heard it.
		}
	}

	private static void fetch(URI page) throws IOException {
		var connection = (HttpURLConnection) page.toURL().openConnection();
		connection.setConnectTimeout(5000);
		connection.setReadTimeout(5000);
		try (var in = connection.getInputStream()) {
			in.readAllBytes();
		}
	}

	private static void fetchByClient(URI page) throws IOException, InterruptedException {
		var request = HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(5)).build();
		client.send(request, HttpResponse.BodyHandlers.ofString());
	}

	private static void work(String how, String address, int unit, int tries) {
		for (int n = 0; n < tries; n++) {
			try {
				say(Integer.toString(unit));
				if (how.equals("client"))
					fetchByClient(URI.create(address + unit));
				else
					fetch(URI.create(address + unit));
				return;
			} catch (IOException failed) {
				pause(20);
			} catch (InterruptedException end) {
				return;
			}
		}
	}

	private static void pause(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException end) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] words) throws InterruptedException {
		var address = "http://" + words[0] + ":" + words[1] + "/u/";
		int count = Integer.parseInt(words[2]), tries = Integer.parseInt(words[5]);
		var pool = Executors.newFixedThreadPool(Integer.parseInt(words[4]));

		for (int i = 0; i < count; i++) {
			int unit = i;

			pool.execute(() -> work(words[3], address, unit, tries));
			pause(4);
		}
		pool.shutdown();
		pool.awaitTermination(60, TimeUnit.SECONDS);
		System.exit(0); // the selector of HttpClient would stay for a while
	}
}
