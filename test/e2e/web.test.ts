// The first page, in a real browser from a running gateway: it says what is true, what it offers to copy works, and it
// needs nothing that the gateway's Content-Security-Policy forbids.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../support/chromium.ts'
import { run, start } from '../support/process.ts'
import type { Running } from '../support/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-web-'))
const env = { ...process.env, TOLLGATE_DATABASE: `sqlite:${join(folder, 't.db')}` }

describe('the first page', () => {
  let gateway: Running
  let browser: Browser
  let page: Page
  let url: string
  const complaints: string[] = []

  before(async () => {
    gateway = start('node', ['bin/tollgate.mjs', 'serve', '--port', '0'], { env })
    ;[url] = await gateway.printed(/http:\/\/127\.0\.0\.1:\d+/)
    browser = await launchBrowser()
    page = await browser.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('requestfailed', (request) => complaints.push(request.url()))
    await page.goto(url)
  })
  after(async () => {
    await browser.close()
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('says that the gateway is running', async () => {
    await page.getByRole('status').getByText('The gateway is running.').waitFor()
  })

  test('offers a first call that works as it stands', async () => {
    const command = await page.getByLabel('command that creates a key', { exact: true }).innerText()
    const call = await page.getByLabel('first call', { exact: true }).innerText()
    const words = command.split(' ').slice(2)
    const created = await run('node', ['bin/tollgate.mjs', ...words, '--json'], { env })
    const { secret } = JSON.parse(created.stdout)
    // A machine may lack curl, so its words are read instead.
    const [, address = ''] = /^curl (\S+)/.exec(call) ?? []
    const [, body = ''] = /-d '([^']+)'$/.exec(call) ?? []
    const headers = [...call.matchAll(/-H "(.+?): (.+?)"/g)].map(
      ([, name = '', value = '']): [string, string] => [
        name,
        value.replace('$TOLLGATE_API_KEY', secret),
      ],
    )
    const answer = await fetch(address, { method: 'POST', headers, body })
    assert.equal(answer.status, 200, await answer.text())
  })

  test('copies without the clipboard of a secure context', async () => {
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
  })

  test('is readable in the dark', async () => {
    const ground = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    await page.emulateMedia({ colorScheme: 'light' })
    const light = await ground()
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.notEqual(await ground(), light)
  })

  test('loads without a complaint of the browser', () => assert.deepEqual(complaints, []))

  test('notices when the gateway stops', async () => {
    await gateway.stop()
    await page.getByRole('status').getByText('The gateway does not answer.').waitFor()
  })
})
