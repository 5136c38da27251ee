/* SPDX-License-Identifier: MIT */
/* Maps of regions. */
#include "tool/sim_plot_region.h"

#include "tool/sim_gnuplot.h"

/* Beyond the seconds that are drawn: it never comes back. */
#define NEVER (SIM_REGION_WATCHED + 2)

void sim_plot_region_script(const struct sim_region *regions, const char *const *names, int count,
                            const char *path, FILE *to)
{
	sim_gnuplot_layout(count, path, to);
	fprintf(to,
	        "unset key\nset palette defined (0 '#1b9e77', 20 '#e6ab02', %d '#d95f02', "
	        "%d '#4a1010', %d '#4a1010')\nset cbrange [0:%d]\n"
	        "set cblabel 's until back'\nset xrange [-0.5:%d.5]\nset yrange [47.5:102.5]\n"
	        "set xlabel 'length of the outage (dark: it never comes back)'\n"
	        "set ylabel 'load'\nset format y '%%g%%%%'\nset xtics (",
	        NEVER - 2, NEVER - 1, NEVER, NEVER, SIM_LENGTHS - 1);
	for (int i = 0; i < SIM_LENGTHS; i++)
		fprintf(to, "%s'%ds' %d", i ? ", " : "", (int)(regions->lengths[i] / NS_PER_S), i);
	fputs(")\n", to);
	for (int i = 0; i < count; i++) {
		fprintf(to, "$r%d << EOD\n", i);
		for (int at = 0; at < SIM_LOADS * SIM_LENGTHS; at++) {
			double back = regions[i].recovery[at / SIM_LENGTHS][at % SIM_LENGTHS];

			fprintf(to, "%d %g %g\n", at % SIM_LENGTHS,
			        regions[i].loads[at / SIM_LENGTHS] * 100, back < 0 ? NEVER : back);
		}
		fputs("EOD\n", to);
		sim_gnuplot_title(names[i], "", to);
		fprintf(to, "plot $r%d using 1:2:3 with image\n", i);
	}
	fputs("unset multiplot\n", to);
}

bool sim_plot_regions(const struct sim_region *regions, const char *const *names, int count,
                      const char *path, FILE *err)
{
	FILE *to = sim_gnuplot_start(path, err);

	if (!to)
		return false;
	sim_plot_region_script(regions, names, count, path, to);
	return sim_gnuplot_finish(to, path, err);
}
