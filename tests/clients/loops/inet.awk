# SPDX-License-Identifier: MIT
# gawk's /inet: its two-way streams, through stdio. gawk -f inet.awk loop HOST PORT
BEGIN {
    service = "/inet/tcp/0/" ARGV[2] "/" ARGV[3]
    PROCINFO["NONFATAL"] = 1
    said = ""
    while (1) {
        ERRNO = ""
        print "hello from gawk" |& service
        got = ERRNO == "" ? (service |& getline line) : -1
        error = ERRNO
        close(service)
        if (got > 0 && line == "hello from gawk") {
            print line
            exit
        }
        if (error == "")
            error = "no answer"
        if (error != said)
            print (said = error) > "/dev/stderr"
    }
}
