/* SPDX-License-Identifier: MIT */
/* One row for each program and destination, as a load balancer's page shows its backends. */
#include "agent/page.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const char before[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Retry budgets</title>\n<style>\n"
    ":root{color-scheme:light dark;--ok:#0a6b2e;--slow:#8a5a00;--bad:#a3171d;--line:#8884;"
    "--bar:#4a7bd0}\n"
    "@media(prefers-color-scheme:dark){:root{--ok:#6fd193;--slow:#f0b85c;--bad:#ff8a8a;"
    "--bar:#7da7f0}}\n"
    "body{font:15px/1.4 system-ui,sans-serif;margin:1rem;max-width:90rem}\n"
    "h1{font-size:1.3rem;margin:0 0 .2rem}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);"
    "vertical-align:top}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "td.name{overflow-wrap:anywhere;min-width:9rem}\n"
    "th button{font:inherit;font-weight:bold;background:none;border:0;padding:0;cursor:pointer;"
    "color:inherit;text-align:inherit}\n"
    ".ok{color:var(--ok)}.slow{color:var(--slow)}.bad{color:var(--bad)}\n"
    "meter{width:6rem}\n"
    "svg{height:1.2rem;width:8rem}polyline{fill:none;stroke:var(--bar);stroke-width:1.5}\n"
    "@media(max-width:45rem){thead{position:absolute;left:-999rem}tr{display:block;"
    "border-bottom:2px solid var(--line)}td{display:flex;justify-content:space-between;"
    "border:0;gap:1rem}td.n{text-align:left}td::before{content:attr(data-label);"
    "font-weight:bold}}\n"
    "</style>\n</head>\n<body>\n<main>\n<h1>Retry budgets of this machine</h1>\n";

/* Refreshes by fetching the page anew, every five seconds while it is seen, and keeps order, search
 * and focus. */
static const char after[] =
    "<script>\n"
    "'use strict';let column=-1,down=true;\n"
    "const rows=()=>[...document.querySelectorAll('tbody tr')];\n"
    "function order(){if(column<0)return;const body=document.querySelector('tbody');\n"
    "const key=r=>{const c=r.cells[column];return c.dataset.value??c.textContent};\n"
    "rows().sort((a,b)=>{const x=key(a),y=key(b),n=x-y;\n"
    "return (down?-1:1)*(isNaN(n)?x.localeCompare(y):n)}).forEach(r=>body.append(r))}\n"
    "function search(){const w=document.getElementById('search').value.toLowerCase();\n"
    "rows().forEach(r=>r.hidden=!r.textContent.toLowerCase().includes(w))}\n"
    "document.querySelectorAll('th').forEach((h,i)=>{const b=document.createElement('button');\n"
    "b.textContent=h.textContent;h.replaceChildren(b);b.onclick=()=>{down=column===i?!down:true;\n"
    "column=i;document.querySelectorAll('th').forEach(o=>o.removeAttribute('aria-sort'));\n"
    "h.setAttribute('aria-sort',down?'descending':'ascending');order()}});\n"
    "const box=document.getElementById('box');box.hidden=false;\n"
    "document.getElementById('search').oninput=search;\n"
    "setInterval(async()=>{if(document.hidden)return;try{\n"
    "const text=await(await fetch('/')).text();\n"
    "const next=new DOMParser().parseFromString(text,'text/html');\n"
    "for(const s of['tbody','#when'])document.querySelector(s).replaceWith("
    "next.querySelector(s));\n"
    "order();search()}catch(e){document.getElementById('when').textContent="
    "'The daemon does not answer.'}},5000);\n"
    "</script>\n</main>\n</body>\n</html>\n";

static void put(const char *text, FILE *out)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		switch (*at) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			if (*at < ' ' || *at > '~')
				fprintf(out, "\\x%02x", *at);
			else
				putc(*at, out);
		}
	}
}

static const char *failure_word(int64_t failure)
{
	static const char *const words[] = {
		[FAILURE_REFUSED] = "connections are refused",
		[FAILURE_UNREACHABLE] = "it cannot be reached",
		[FAILURE_TIMEOUT] = "it does not answer in time",
		[FAILURE_RESET] = "it resets connections",
		[FAILURE_DROPPED] = "it closes without an answer",
		[FAILURE_LOCAL] = "this machine has no room",
		[FAILURE_LOOKUP] = "its name cannot be looked up",
		[FAILURE_STATUS] = "it answers with a failure",
	};
	_Static_assert(sizeof(words) / sizeof(*words) == FAILURE_COUNT, "each class has words");

	return failure > 0 && failure < FAILURE_COUNT ? words[failure] : "";
}

/* Throttled in the last points of time. */
static int64_t recent_of(const struct series *series, int points)
{
	int64_t sum = 0;

	for (int i = TOTALS_RECENT - points; i < TOTALS_RECENT; i++)
		sum += greater(series->recent[i], 0);
	return sum;
}

static void put_state(const struct series *series, FILE *out)
{
	if (series->processes == 0)
		fputs("<td data-label=\"State\" class=\"slow\">gone</td>", out);
	else if (recent_of(series, 2) > 0)
		fprintf(
		    out,
		    "<td data-label=\"State\"><span><strong class=\"bad\">throttled</strong><br>%s"
		    "</span></td>",
		    failure_word(series->last_failure));
	else if (series->observed)
		fprintf(out,
		        "<td data-label=\"State\" class=\"slow\"><span>observed<br>would be "
		        "throttled: %s</span></td>",
		        failure_word(series->last_failure));
	else if (series->capacity > 0 && series->tokens < series->capacity / 2)
		fputs("<td data-label=\"State\" class=\"slow\">recovering</td>", out);
	else
		fputs("<td data-label=\"State\" class=\"ok\">quiet</td>", out);
}

/* Without the last point, which is not over: it would seem to fall. */
static void put_sparkline(const struct series *series, double point, FILE *out)
{
	const int shown = TOTALS_RECENT - 1;
	int64_t most = 1;

	for (int i = 0; i < shown; i++)
		most = greater(most, series->recent[i]);
	fprintf(out,
	        "<td data-label=\"Throttled lately\" data-value=\"%" PRId64 "\"><svg viewBox=\"0 0 "
	        "%d 20\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"throttled: %" PRId64
	        " in the last %.0f minutes\"><polyline points=\"",
	        recent_of(series, TOTALS_RECENT), shown, recent_of(series, TOTALS_RECENT),
	        TOTALS_RECENT * point / 60);
	for (int i = 0; i < shown; i++)
		fprintf(out, "%d,%.1f ", i,
		        19 - 18 * (double)greater(series->recent[i], 0) / (double)most);
	fputs("\"/></svg></td>", out);
}

static void put_number(const char *label, int64_t value, FILE *out)
{
	fprintf(out, "<td class=\"n\" data-label=\"%s\">%" PRId64 "</td>", label, value);
}

static void put_row(const struct series *series, double point, FILE *out)
{
	const int64_t *values = series->values;

	fputs("<tr><td class=\"name\" data-label=\"Destination\" title=\"policy ", out);
	put(series->policy, out);
	fputs("\">", out);
	put(series->destination, out);
	fputs("</td><td class=\"name\" data-label=\"Program\">", out);
	put(series->program, out);
	fputs("</td>", out);
	put_state(series, out);
	fprintf(out,
	        "<td data-label=\"Budget\" data-value=\"%.3f\"><meter aria-label=\"retries left\" "
	        "min=\"0\" max=\"%.1f\" "
	        "value=\"%.1f\"></meter> ",
	        series->capacity > 0 ? (double)series->tokens / (double)series->capacity : 1,
	        series->capacity > 0 ? (double)series->capacity / 1000 : 1,
	        series->capacity > 0 ? (double)greater(series->tokens, 0) / 1000 : 1);
	if (series->capacity > 0)
		fprintf(out, "%.1f of %.1f</td>", (double)series->tokens / 1000,
		        (double)series->capacity / 1000);
	else
		fputs("untouched</td>", out);
	put_number("Attempts", values[TALLY_PLACE(attempts)], out);
	put_number("Retries", values[TALLY_PLACE(retries)], out);
	put_number("Failures", values[TALLY_PLACE(failed)] + values[TALLY_PLACE(failed) + 1], out);
	put_number("Throttled", totals_throttled(series), out);
	put_number("Exhausted", values[TALLY_PLACE(exhausted)], out);
	put_number("Regions", series->processes, out);
	put_sparkline(series, point, out);
	fputs("</tr>\n", out);
}

void page_write(const struct totals *totals, const struct round *round, FILE *out)
{
	static const char *const numbers[] = { "Attempts",  "Retries",   "Failures",
		                               "Throttled", "Exhausted", "Regions" };
	time_t at = (time_t)round->at;
	char when[32] = "";
	struct tm split;

	if (gmtime_r(&at, &split))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &split);
	fputs(before, out);
	fprintf(out,
	        "<p id=\"when\">%zu regions read, %zu could not be, %zu of another version; as of "
	        "%s.</p>\n",
	        round->processes, round->unreadable, round->strange, when);
	fputs(
	    "<p id=\"box\" hidden><label>Search <input id=\"search\" type=\"search\"></label></p>\n"
	    "<table>\n<caption>Programs and the destinations that they have "
	    "tried</caption>\n<thead><tr><th scope=\"col\">Destination</th><th "
	    "scope=\"col\">Program</th><th scope=\"col\">State</th><th scope=\"col\">Budget</th>",
	    out);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		fprintf(out, "<th scope=\"col\" class=\"n\">%s</th>", numbers[i]);
	fputs("<th scope=\"col\">Throttled lately</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 1; i < totals->count; i++)
		put_row(&totals->series[i], totals->point, out);
	fputs("</tbody>\n</table>\n", out);
	fputs(after, out);
}
