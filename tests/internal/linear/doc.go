// Package linear records what clients of locks asked and were told, and has porcupine
// judge whether some order of their commands explains it.
package linear
