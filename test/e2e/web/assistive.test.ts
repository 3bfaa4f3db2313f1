// What assistive technology and the keyboard meet around every page: landmarks, menus, dialogs, and a focus that stays
// where it was while something runs.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { allFindings, choose, newKey, openSignedInWeb } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('assistive technology', () => {
  let web: SignedInWeb
  let page: Page
  let key: string

  before(async () => {
    web = await openSignedInWeb()
    ;({ page } = web)
    key = (await newKey(web, 'night job')).id
  })
  after(() => web.close())

  test('everything on a page is within a landmark, on wide and on narrow screens', async () => {
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await web.open('/settings/api-access')
      assert.deepEqual(await allFindings(page), [], `${width} pixels`)
    }
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('a menu has nothing but its items', async () => {
    await web.open('/settings/api-access')
    for (const name of ['Actions for night job', 'Your account', 'Language']) {
      await page.getByRole('button', { name }).click()
      await page.getByRole('menu').waitFor()
      // It opens above the page and closes with it: no landmark that somebody would go to.
      const found = (await allFindings(page)).filter((each) => !each.startsWith('region: '))
      assert.deepEqual(found, [], name)
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'hidden' })
    }
  })

  test('a dialog is no second banner', async () => {
    await choose(page, 'night job', 'Pause')
    await page.getByRole('dialog').waitFor()
    assert.deepEqual(await allFindings(page), [])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  test('the focus stays on the button of a test call, while it runs and after', async () => {
    await choose(page, 'night job', 'Test call')
    const run = page.getByRole('button', { name: 'Make a test call' })
    await run.focus()
    await page.keyboard.press('Enter')
    await page.getByText('It works: sandbox-chat answered.').waitFor()
    assert.equal(await focused(), 'Make a test call')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  test('the focus is in the field for the next message after one was sent', async () => {
    await web.open(`/settings/playground?key=${key}`)
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Send' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(/tokens in/).waitFor()
    await page.keyboard.type('And then')
    const field = page.getByRole('textbox', { name: 'Message', exact: true })
    assert.equal(await field.inputValue(), 'And then')
  })

  test('the focus stays on the button of a sample, whose result names the destination', async (t) => {
    const receiver = createServer((_, response) => response.writeHead(500).end())
    t.after(() => receiver.close())
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/hook`
    await web.ask('POST', '/alerts/destinations', { kind: 'webhook', name: 'chat', url })
    await web.open('/settings/alerts')
    const send = page.getByRole('button', { name: 'Send sample to chat' })
    await send.focus()
    await page.keyboard.press('Enter')
    await page.getByText('The sample was not delivered to chat.').waitFor()
    assert.equal(await focused(), 'Send sample to chat')
    await page.getByText(/^Since .*: The receiver answered with status 500\.$/).waitFor()
  })

  test('there are no browser errors', () => assert.deepEqual(web.complaints, []))

  /** The name of what has the focus. */
  function focused(): Promise<string> {
    return page.evaluate<string>(
      `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`,
    )
  }
})
