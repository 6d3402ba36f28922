<?php

declare(strict_types=1);

/**
 * What the lock protects: a folder that processes enter one at a time, and that notes
 * when two are in it.
 */
final class Turns
{
    private string $folder;

    public function __construct()
    {
        $this->folder = sys_get_temp_dir() . '/turns-' . bin2hex(random_bytes(8));
        mkdir($this->folder);
    }

    public function enter(): void
    {
        if (!@mkdir("$this->folder/inside")) {
            $this->note('clash');
        }
        $this->note('turn');
    }

    public function leave(): void
    {
        @rmdir("$this->folder/inside");
    }

    /** Notes why a process failed. */
    public function fail(Throwable $why): void
    {
        $this->note('failed: ' . $why->getMessage());
    }

    private function note(string $line): void
    {
        file_put_contents("$this->folder/notes", $line . "\n", FILE_APPEND | LOCK_EX);
    }

    /**
     * Removes the folder.
     *
     * @return array<string, int> what was noted, and how often
     */
    public function end(): array
    {
        $notes = (array) @file("$this->folder/notes", FILE_IGNORE_NEW_LINES);
        @unlink("$this->folder/notes");
        $this->leave();
        rmdir($this->folder);
        return array_count_values($notes);
    }
}
