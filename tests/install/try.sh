#!/bin/sh
# Runs a command up to three times, since what goes over the network fails by chance. After the third it ends with the
# status of the command. The first pause is TRY_PAUSE, which tests set to 0, and the second one is four times as long.
pause=${TRY_PAUSE:-5}
try=1
until "$@"; do
    status=$?
    if [ "$try" = 3 ]; then
        echo 'install: try 3 of 3 failed' >&2
        exit "$status"
    fi
    echo "install: try $try of 3 failed, again in $pause s" >&2
    sleep "$pause"
    pause=$((pause * 4))
    try=$((try + 1))
done
