# SPDX-License-Identifier: MIT
# Tcl's socket command, synchronous.
lassign $argv how host port count

proc fetch {host port} {
    set s [socket $host $port]
    try {
        puts $s "hello from tcl"
        flush $s
        if {[gets $s line] < 0 || $line ne "hello from tcl"} {
            error "no answer"
        }
        return $line
    } finally {
        catch {close $s}
    }
}

if {$how eq "get"} {
    for {set i 0} {$i < $count} {incr i} {
        puts [fetch $host $port]
    }
    exit 0
}
set said ""
while {[catch {fetch $host $port} line]} {
    if {$line ne $said} {
        puts stderr [set said $line]
    }
}
puts $line
