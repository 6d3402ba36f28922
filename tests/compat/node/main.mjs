// Drives the Node lock libraries, as their users would, against servers that are named
// on the command line. ../README.md says what it prints and what each case asks.

import { readFile } from "node:fs/promises";
import { cases } from "./cases.mjs";
import { libraries } from "./libraries.mjs";
import { Probe } from "./probe.mjs";

const caseLimit = 60_000; // ms

async function versionOf(name) {
  const text = await readFile(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8");
  const { name: asPublished, version } = JSON.parse(text);
  return { asPublished, version: version.replace(/^v/, "") };
}

async function version({ library, driver }) {
  const [ours, its] = await Promise.all([versionOf(library), versionOf(driver)]);
  return `${ours.version} on ${its.asPublished} ${its.version}`;
}

function within(limit, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still at it after ${limit} ms`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// outcome is how a case ended: "ok", "none" or "FAIL ...".
async function outcome(run, entry, name) {
  if (entry.none.includes(name)) return "none";
  try {
    await within(caseLimit, cases[name](run, `${run.prefix}:${name}`));
    return "ok";
  } catch (err) {
    const cause = err.cause ? ` (${err.cause.message})` : "";
    return `FAIL ${err.message}${cause}`.replaceAll("\n", " ");
  }
}

async function main([name, addressList, prefix]) {
  const entry = libraries[name];
  if (!entry || !prefix) {
    console.error("usage: main.mjs LIBRARY ADDRESS[,ADDRESS...] PREFIX");
    return 2;
  }
  console.log("version", await version(entry));
  const addresses = addressList.split(",");
  const [library, driver] = await Promise.all([import(entry.library), import(entry.driver)]);
  const locker = await entry.open(library, driver, addresses);
  const run = { locker, probe: await Probe.connect(addresses), prefix, several: addresses.length > 1 };
  let failed = 0;
  for (const name of Object.keys(cases)) {
    const result = await outcome(run, entry, name);
    console.log(name, result);
    if (result.startsWith("FAIL")) failed = 1;
  }
  return failed;
}

// Locks that are still held keep timers and connections, so the end is told.
process.exit(await main(process.argv.slice(2)));
