// The secret that seals sessions and stored responses. It comes from the environment, or else, on SQLite, where one
// process serves, from a file beside the database, made on first use.
import { randomBytes, randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../core/errors.ts'
import { sqlitePath } from '../store/database/url.ts'
import { makeFolder } from '../store/sqlite/files.ts'
import type { Config } from './load.ts'
import { ConfigError } from './problems.ts'
import type { Problem } from './problems.ts'

const BYTES = 32
const LENGTH_MIN = 16

export function secretOf(config: Pick<Config, 'secret' | 'database' | 'dataFolder'>): string {
  const problems = secretProblems(config)
  if (problems.length > 0) throw new ConfigError(null, problems)
  return config.secret ?? readSecret(secretFile(config))
}

/** Where it is kept if the environment has none. */
export function secretFile({ dataFolder }: Pick<Config, 'dataFolder'>): string {
  return join(dataFolder, 'secret')
}

/** What is wrong with the secret given, or with giving none; no file is read or made. */
export function secretProblems({
  secret,
  database,
}: Pick<Config, 'secret' | 'database'>): readonly Problem[] {
  const wrong = (why: string): readonly Problem[] => [
    { path: 'TOLLGATE_SECRET', message: `${why} make one with \`openssl rand -base64 32\`` },
  ]
  if (secret === null) {
    const isMade = sqlitePath(database) !== undefined
    return isMade ? [] : wrong('is required with PostgreSQL, the same on every node:')
  }
  if (secret.length >= LENGTH_MIN) return []
  return wrong(`is too short: it needs at least ${LENGTH_MIN} characters;`)
}

function readSecret(path: string): string {
  try {
    const secret = readFileSync(path, 'utf8').trim()
    if (secret === '') throw unusable(path, 'is empty')
    return secret
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      throw error instanceof ConfigError ? error : unusable(path, codeOf(error) ?? String(error))
  }
  return makeSecret(path)
}

/** A link makes it appear whole, or not at all if the disk is full; of two concurrent starts, only one can make it. */
function makeSecret(path: string): string {
  const secret = randomBytes(BYTES).toString('base64')
  const draft = `${path}.${randomUUID()}`
  try {
    makeFolder(dirname(path))
    writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true })
    linkSync(draft, path)
    return secret
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return readSecret(path)
    throw unusable(path, codeOf(error) ?? String(error))
  } finally {
    rmSync(draft, { force: true })
  }
}

function unusable(path: string, why: string): ConfigError {
  const message = `cannot be used (${why}): make it readable and writable, or set TOLLGATE_SECRET`
  return new ConfigError(null, [{ path, message }])
}
