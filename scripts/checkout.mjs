// What a checkout needs besides the runtime: dependencies from the lockfile, and dist/ and web/dist built from the
// sources. If all of them are up to date, it does nothing, in a few milliseconds.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isWritable, runNpm, say, SetupError } from '../bin/npm.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const cache = path.join(root, '.cache')

/** Installs the dependencies in a folder's lockfile, unless they are installed. */
export async function ensureDependencies(folder = root) {
  if (isInstalled(folder)) return
  await alone(`install-${nameOf(folder)}`, async (hold) => {
    if (isInstalled(folder)) return
    if (process.env.TOLLGATE_OFFLINE === '1')
      throw new SetupError(
        `node_modules in ${folder} is missing or older than the lockfile, and TOLLGATE_OFFLINE=1 forbids installing it: run npm ci there.`,
      )
    const name = path.relative(root, folder) || 'dependencies'
    say(`installing ${name} from the lockfile`)
    // npm goes on if this process is killed, so npm holds the lock.
    await runNpm(['ci'], { folder, purpose: `install ${name}`, onStart: hold })
    if (folder === root) linkCommand()
  })
}

/** `npx tollgate` looks here first; without this link, npx installs one to this folder on every call. */
function linkCommand() {
  if (process.platform === 'win32') return
  fs.symlinkSync('../../bin/tollgate.mjs', path.join(root, 'node_modules', '.bin', 'tollgate'))
}

/** npm writes its own lockfile of what it installed at the very end: an interrupted install has none. */
function isInstalled(folder) {
  const modules = path.join(folder, 'node_modules')
  // A linked node_modules is maintained where it is linked from.
  if (fs.lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return true
  const place = path.relative(root, folder)
  const installedFile = path.join(place, 'node_modules', '.package-lock.json')
  const lockfile = path.join(place, 'package-lock.json')
  if (!fs.existsSync(root + installedFile)) return false
  return stillHolds(`installed-${nameOf(folder)}`, [installedFile, lockfile], () => {
    const installed = readPackages(installedFile)
    return Object.entries(readPackages(lockfile)).every(([name, { version, optional }]) => {
      if (name === '') return true
      // npm leaves out optional packages for other platforms.
      return installed[name] ? installed[name].version === version : optional
    })
  })
}

function nameOf(folder) {
  return path.relative(root, folder).replaceAll(path.sep, '-') || 'dependencies'
}

function readPackages(file) {
  return JSON.parse(fs.readFileSync(root + file, 'utf8')).packages
}

/** Builds web/, with what it shares with the gateway, into web/dist unless it was built from these very sources. */
export async function ensureWeb() {
  const target = path.join(root, 'web', 'dist')
  const sources = [
    ...filesBelow('web'),
    ...modulesBelow('src/admin/contract'),
    ...modulesBelow('src/core'),
    'package-lock.json',
  ]
  await make('web', { product: path.join(target, 'index.html'), sources }, () => {
    say('building the web interface')
    buildWeb(target)
  })
}

function buildWeb(target) {
  const staging = path.join(cache, `web-${process.pid}`)
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const args = [vite, 'build', 'web', '--outDir', staging, '--logLevel', 'warn']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new SetupError(`could not build the web interface:\n${stdout}${stderr}`)
  fs.rmSync(target, { recursive: true, force: true })
  fs.renameSync(staging, target)
}

/** Builds src/ into dist unless it was built from these very sources. */
export async function ensureBuilt() {
  const target = path.join(root, 'dist')
  const others = ['package.json', 'package-lock.json', 'scripts/build.mjs']
  const sources = [...modulesBelow('src'), ...others]
  await make('gateway', { product: path.join(target, 'main.js'), sources }, () => {
    say('building the gateway')
    buildGateway(target)
    removeOlder(target)
  })
}

/** In a separate process: one that serves for weeks should not keep the compiler's memory. */
export function buildGateway(target) {
  const builder = path.join(root, 'scripts', 'build.mjs')
  const { status, stderr } = spawnSync(process.execPath, [builder, target], { encoding: 'utf8' })
  if (status !== 0) throw new SetupError(`could not build the gateway:\n${stderr}`)
}

/** Files of earlier builds are kept for a day, for running gateways that have not loaded all of them. */
function removeOlder(folder) {
  const dayAgo = Date.now() - 86_400_000
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name)
    if (fs.statSync(file).mtimeMs < dayAgo) fs.rmSync(file, { force: true })
  }
}

/** Runs `work` unless `product` exists and was made from these very sources. */
async function make(name, { product, sources }, work) {
  const stamp = path.join(cache, `${name}.sha256`)
  const isDone = () =>
    fs.existsSync(product) && stillHolds(name, sources, () => textOf(stamp) === digestOf(sources))
  if (isDone()) return
  await alone(name, async () => {
    if (isDone()) return
    const digest = digestOf(sources)
    work()
    fs.writeFileSync(stamp, digest)
  })
}

/**
 * Whether a check of these files holds. It is made again only where one of them looks other than when it held: reading
 * them all would cost every command a third of its time.
 */
function stillHolds(name, files, check) {
  const known = path.join(cache, `${name}.look`)
  // Before the check: what changes during it looks other the next time.
  const look = lookOf(files)
  if (textOf(known) === look) return true
  if (!check()) return false
  try {
    fs.writeFileSync(known, look)
  } catch {
    // A folder that cannot be written is checked each time.
  }
  return true
}

/** Changes with everything that is done to a file: unlike the time of its last change, that of its inode cannot be set. */
function lookOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const { ino, size, ctimeMs } = fs.statSync(root + file)
    hash.update(`${file}\0${ino} ${size} ${ctimeMs}\0`)
  }
  return hash.digest('hex')
}

function textOf(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined
}

function digestOf(files) {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(fs.readFileSync(root + file))
      .update('\0')
  return hash.digest('hex')
}

function modulesBelow(folder) {
  return filesBelow(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
}

/** By their paths from the root. Without path.join, which took as long as all the rest. */
function filesBelow(folder) {
  const entries = fs
    .readdirSync(root + folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const file = `${folder}/${entry.name}`
    if (entry.name === 'dist' || entry.name === 'node_modules') return []
    return entry.isDirectory() ? filesBelow(file) : [file]
  })
}

/** Holds a lock file during `work`, so that two first starts do not write to one folder; `work` may set its holder. */
async function alone(name, work) {
  if (!isWritable(cache))
    throw new SetupError(`${root} cannot be written, and it lacks what this command needs.`)
  const lock = path.join(cache, `${name}.lock`)
  while (!takeLock(lock)) await sleep(100)
  try {
    await work((pid) => fs.writeFileSync(lock, String(pid)))
  } finally {
    fs.rmSync(lock, { force: true })
  }
}

function takeLock(lock) {
  try {
    fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (!isHeld(lock)) fs.rmSync(lock, { force: true })
  return false
}

/** A killed holder leaves its file behind, and its pid may belong to another process by now, hence the age limit. */
function isHeld(lock) {
  const oldest = Date.now() - 900_000
  try {
    if (fs.statSync(lock).mtimeMs < oldest) return false
    const holder = Number(fs.readFileSync(lock, 'utf8'))
    if (holder > 0) process.kill(holder, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
