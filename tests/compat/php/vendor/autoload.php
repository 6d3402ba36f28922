<?php

// Stands where Composer would have put its loader, so that programs begin as their
// users' do. The libraries are Debian's packages, on PHP's include path.

require_once 'Predis/autoload.php';
require_once 'Symfony/Component/Lock/autoload.php';
require_once 'Illuminate/Cache/autoload.php';
require_once 'Illuminate/Redis/autoload.php';
require_once 'Malkusch/Lock/autoload.php';

// The package's own loader doesn't know each of its exceptions.
spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'malkusch\\lock\\')) {
        require 'Malkusch/Lock/classes/' . strtr(substr($class, strlen('malkusch\\lock\\')), '\\', '/') . '.php';
    }
});
