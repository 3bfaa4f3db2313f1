// The pipeline of public forges runs what README says, and passes the linter for such files.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parse } from 'yaml'

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12'

describe('.github/workflows', () => {
  test('runs the test command of README on every supported Node and machine', () => {
    const { jobs } = parse(readFileSync('.github/workflows/ci.yml', 'utf8'))
    const { steps, strategy } = jobs.test
    const command = steps.at(-1).run
    assert.match(readFileSync('README.md', 'utf8'), new RegExp(`^${command} `, 'm'))
    assert.match(readFileSync('.ci/run', 'utf8'), new RegExp(`^exec ${command}$`, 'm'))
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'))
    assert.equal(engines.node, `>=${strategy.matrix.node[0]}`)
    assert.deepEqual(strategy.matrix.machine, ['ubuntu-24.04', 'ubuntu-24.04-arm'])
  })

  const hasGo = spawnSync('go', ['version']).status === 0
  test('passes actionlint', { skip: !hasGo && 'actionlint is built with Go' }, () => {
    const files = globSync('.github/workflows/*.yml')
    assert.ok(files.length > 0)
    const { status, stdout, stderr } = spawnSync('go', ['run', ACTIONLINT, ...files])
    assert.equal(status, 0, `${stdout}${stderr}`)
  })
})
