// The seven cases. ../README.md has them as a table; each throws what it finds wrong.

import { patience, until } from "./probe.mjs";

const lease = 10_000;
const cutLease = 1_000;
const shortLease = 500;

// turnsLease is short, since some libraries leave votes of lost tries to run out.
const turnsLease = 2_000;
const tasks = { one: 16, several: 8 };

function check(holds, otherwise) {
  if (!holds) throw new Error(otherwise);
}

// ask asks for the lock once, or in the library's own way where it can only wait.
async function ask(locker) {
  if (locker.tryLock) return locker.tryLock();
  await locker.lock();
  return true;
}

// take locks a free name.
async function take(run, name) {
  const locker = run.locker(name, lease);
  check(await ask(locker), "not taken");
  return locker;
}

async function acquire(run, name) {
  const { key, hasToken = true } = await take(run, name);
  let seen;
  // A library may go on before its last vote has arrived.
  const told = await until(async () => {
    const left = await run.probe.left(key);
    const tokens = await run.probe.everywhere("LOCK.TOKEN", key);
    seen = `leases ${left}, tokens ${tokens}`;
    return left.every((ms) => ms > 0 && ms <= lease) && (!hasToken || tokens.every((token) => token > 0));
  });
  check(told, seen);
}

async function contended(run, name) {
  await take(run, name);
  check(!(await run.locker(name, lease).tryLock()), "taken twice");
}

async function extend(run, name) {
  const locker = await take(run, name);
  await run.probe.everywhere("PEXPIRE", locker.key, cutLease);
  check((await locker.extend()) !== false, "not extended");
  check(await run.probe.holds(locker.key, lease / 2), `the lease is ${await run.probe.left(locker.key)}`);
}

async function release(run, name) {
  const locker = await take(run, name);
  check((await locker.unlock()) !== false, "not released");
  await take(run, name);
}

async function foreign(run, name) {
  const former = await take(run, name);
  await run.probe.everywhere("DEL", former.key);
  await take(run, name);
  check((await former.unlock()) !== true, "the former holder was told that it released the lock");
  check(await run.probe.holds(former.key), "the former holder released its successor's lock");
}

// briefly takes a lock for a short lease, and tells since when. A try that takes as
// long as the lease is lost, as it must be; then the next counts.
async function briefly(run, name) {
  const locker = run.locker(name, shortLease);
  let since;
  const taken = await until(() => {
    since = performance.now();
    return ask(locker);
  });
  check(taken, "not taken");
  return { locker, since };
}

async function expiry(run, name) {
  const { locker, since } = await briefly(run, name);
  const next = run.locker(name, lease);
  check(await until(() => ask(next)), `not free after ${patience} ms`);
  const took = performance.now() - since;
  check(took >= shortLease * 0.99, `taken from its holder after ${took} of ${shortLease} ms`);
  if (!locker.extend) return;
  check((await locker.extend()) !== true, "extended after it had ended");
  check(await run.probe.holds(next.key, lease / 2), "the former holder changed its successor's lease");
}

async function wait(run, name) {
  let inside = 0;
  let turns = 0;
  let clashes = 0;
  const count = run.several ? tasks.several : tasks.one;
  const turn = async () => {
    const locker = run.locker(name, turnsLease);
    await locker.lock();
    if (++inside !== 1) clashes++;
    await run.probe.left(locker.key);
    turns++;
    inside--;
    check((await locker.unlock()) !== false, "not released");
  };
  await Promise.all(Array.from({ length: count }, turn));
  check(turns === count && clashes === 0, `${turns} turns, ${clashes} times two were in`);
}

export const cases = { acquire, contended, extend, release, foreign, expiry, wait };
