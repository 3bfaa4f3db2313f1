// The V8 settings of the gateway hold in a serving process: read from V8 itself, not from the code that sets them.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { COMMAND } from '../../support/gateway.ts'
import { start } from '../../support/process.ts'

const serve = [process.execPath, COMMAND, 'serve', '--port', '0']
const witness = new URL('../../support/programs/v8-witness.ts', import.meta.url).href

test('the garbage collector of a serving process has our settings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-v8-'))
  const env = { PATH: process.env['PATH'], NODE_OPTIONS: `--import ${witness}` }
  // Into a file, because V8 gives up on a full pipe.
  const toFile = ['-c', 'exec "$@" >printed', '-']
  await using gateway = start('sh', [...toFile, ...serve], { cwd: folder, env })
  const [, youngMb] = await gateway.printed(/^thread sqlite: (.*) MB young$/m)
  await gateway.printed(/is listening on/)
  await gateway.stop('SIGUSR2')
  assert.equal(youngMb, '12')
  const flags = readFileSync(join(folder, 'printed'), 'utf8')
  for (const flag of ['--heap-growing-percent=100', '--no-allocation-site-pretenuring'])
    assert.ok(flags.includes(`default: ${flag}\n`), flag)
  rmSync(folder, { recursive: true })
})
