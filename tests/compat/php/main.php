<?php

declare(strict_types=1);

// Drives the lock libraries of PHP, as their users would, against servers that are
// named on the command line. ../README.md says what it prints and what each case asks.

require 'vendor/autoload.php';
foreach (['locker', 'connect', 'drivers', 'symfony', 'laravel', 'malkusch', 'spoken_single', 'spoken_masters', 'turns', 'cases'] as $file) {
    require __DIR__ . "/$file.php";
}

/** A library's class by the name under which the program is asked for it, and the Debian packages that it runs. */
const LIBRARIES = [
    'php-redis' => [PhpRedisLibrary::class, 'php-redis'],
    'predis' => [PredisLibrary::class, 'php-predis'],
    'Symfony Lock/php-redis' => [SymfonyOnPhpRedis::class, 'php-symfony-lock', 'php-redis'],
    'Symfony Lock/predis' => [SymfonyOnPredis::class, 'php-symfony-lock', 'php-predis'],
    'Laravel Cache::lock/php-redis' => [LaravelOnPhpRedis::class, 'php-illuminate-cache', 'php-redis'],
    'Laravel Cache::lock/predis' => [LaravelOnPredis::class, 'php-illuminate-cache', 'php-predis'],
    'malkusch/lock 2/php-redis' => [MalkuschOnPhpRedis::class, 'php-malkusch-lock', 'php-redis'],
    'malkusch/lock 2/predis' => [MalkuschOnPredis::class, 'php-malkusch-lock', 'php-predis'],
    'php-lock/lock 3' => [PhpLock3Library::class],
    'redlock-php' => [RedlockPhpLibrary::class],
    'cheprasov/php-redis-lock' => [CheprasovLibrary::class],
    'rtckit/reactphp-redlock' => [ReactLibrary::class],
];

/** What a library is spoken as of, where it isn't installed. */
const SPOKEN = [
    'php-lock/lock 3' => '3.1.1',
    'redlock-php' => '535d616f24',
    'cheprasov/php-redis-lock' => '1.0.3',
    'rtckit/reactphp-redlock' => 'f79eff712d',
];

/** The library's version and its driver's, as the packages tell. */
function version(string $library): string
{
    if (isset(SPOKEN[$library])) {
        return 'calls as of ' . SPOKEN[$library];
    }
    $packages = array_slice(LIBRARIES[$library], 1);
    [$own, $driver] = [$packages[0], $packages[1] ?? null];
    return packageVersion($own) . ($driver === null ? '' : ' on ' . preg_replace('/^php-(?!redis)/', '', $driver) . ' ' . packageVersion($driver));
}

/** A Debian package's version without what Debian adds to it. */
function packageVersion(string $package): string
{
    $version = (string) shell_exec("dpkg-query -W -f '\${Version}' $package");
    return preg_replace('/^\d+:|[+-].*$/', '', $version);
}

function main(array $args): int
{
    if (count($args) !== 4 || !isset(LIBRARIES[$args[1]])) {
        fwrite(STDERR, "usage: main.php LIBRARY ADDRESS[,ADDRESS...] PREFIX\n");
        return 2;
    }
    [, $library, $addresses, $prefix] = $args;
    echo 'version ', version($library), "\n";
    $cases = new Cases(LIBRARIES[$library][0], explode(',', $addresses));
    $failed = 0;
    foreach (Cases::ALL as $case) {
        $result = $cases->run($case, "$prefix:$case");
        $failed += (int) str_starts_with($result, 'FAIL');
        echo "$case $result\n";
    }
    return $failed > 0 ? 1 : 0;
}

exit(main($argv));
