// Runs the tests of the import against LiteLLM's own schema: its migrations, from the package litellm-proxy-extras on
// PyPI, in the tests' PostgreSQL. Only that package is downloaded, nothing of it is installed or run.
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve('.cache/litellm')
const python = process.env['PYTHON'] ?? 'python3'

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:']
execFileSync(python, [...pip, '--dest', folder, 'litellm-proxy-extras'], { stdio: 'inherit' })
const [wheel = ''] = globSync(`${folder}/*.whl`)
execFileSync(python, ['-m', 'zipfile', '-e', wheel, folder])
const migrations = resolve(folder, 'litellm_proxy_extras/migrations')
console.log(
  `${wheel.split('/').at(-1)}: ${globSync(`${migrations}/*/migration.sql`).length} migrations`,
)

const { status } = spawnSync(
  process.execPath,
  ['--test', ...globSync('test/{integration,e2e}/import-*.test.ts')],
  { stdio: 'inherit', env: { ...process.env, LITELLM_MIGRATIONS: migrations } },
)
process.exitCode = status ?? 1
