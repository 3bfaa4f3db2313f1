// Runs npm for the set-up, quietly, and says in one line what a machine lacks.
// Plain JavaScript for any Node >= 20, without dependencies: it runs before anything else is installed.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Something this machine lacks, in one line for the person who typed the command. */
export class SetupError extends Error {}

/** Standard output belongs to the command itself, so set-up prints on standard error. */
export function say(line) {
  process.stderr.write(`tollgate: ${line}\n`)
}

/**
 * Runs npm quietly: its output is shown only if it fails. It runs under this Node, because npm compares Node's version
 * with `engines` and leaves out native packages that do not seem to fit.
 */
export async function runNpm(args, { folder, purpose, onStart = () => {} }) {
  const flags = [
    '--ignore-scripts',
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
  ]
  const env = {
    npm_config_globalconfig: globalConfig(),
    ...process.env,
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
  }
  const child = spawn('npm', [...args, ...flags, ...npmCacheFlag(folder)], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  onStart(child.pid)
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const failure = await new Promise((resolve) => {
    child.on('error', (error) => resolve(`npm cannot be started: ${error.message}`))
    child.on('close', (code) => resolve(code === 0 ? undefined : output.trim()))
  })
  if (failure !== undefined) throw new SetupError(`could not ${purpose} with npm:\n${failure}`)
}

/** npm looks for its settings (registry, proxy, certificates) beside its Node; the installed npm knows the place. */
function globalConfig() {
  const shell = process.platform === 'win32'
  const { stdout } = spawnSync('npm', ['config', 'get', 'globalconfig'], {
    encoding: 'utf8',
    shell,
  })
  return stdout?.trim()
}

/** npm keeps its cache in the home folder and fails where that is read-only. */
function npmCacheFlag(folder) {
  const home = homeFolder()
  const usual = process.env.npm_config_cache ?? (home && path.join(home, '.npm'))
  if (usual && isWritable(usual)) return []
  return ['--cache', path.join(folder, '.cache', 'npm')]
}

export function homeFolder() {
  try {
    return os.homedir()
  } catch {
    return undefined // a user without an entry in the password file has no home
  }
}

export function isWritable(folder) {
  try {
    fs.mkdirSync(folder, { recursive: true })
    fs.accessSync(folder, fs.constants.W_OK)
    return true
  } catch {
    return false
  }
}
