// A gateway on the local network, reached by name over plain HTTP: browsers offer no clipboard there, and a one-time
// secret must still be copied.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { becomeAdministrator, openWebStage } from '../../support/web/web.ts'
import type { WebStage } from '../../support/web/web.ts'

describe('over plain HTTP', () => {
  let stage: WebStage
  let page: Page
  let secret = ''

  before(async () => {
    stage = await openWebStage('tollgate.test')
    page = await (await stage.browser.newContext({ locale: 'en-US' })).newPage()
  })
  after(() => stage.close())

  test('people can sign in, although the page is not a secure context', async () => {
    await becomeAdministrator(page, stage.setupLink)
    assert.equal(await page.evaluate('typeof navigator.clipboard'), 'undefined')
  })

  test('the secret is really copied when "Copied" is shown', async () => {
    await page.goto(`${stage.url}/settings/api-access/new`)
    await page.getByRole('textbox', { name: 'Name' }).fill('on the network')
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).check()
    await page.getByRole('textbox', { name: 'Budget in USD' }).fill('1')
    await page.getByRole('button', { name: 'Create key' }).click()
    secret = await page.getByLabel(/^Secret, \d+ characters$/).inputValue()
    await page.getByRole('button', { name: 'Copy the secret' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await page.getByLabel('I have stored the secret').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.goto(`${stage.url}/settings/api-access`)
    const field = page.getByRole('searchbox', { name: 'Search keys' })
    await field.focus()
    await page.keyboard.press('ControlOrMeta+V')
    assert.equal(await field.inputValue(), secret)
  })

  test('"Copied" is not shown when copying fails', async () => {
    await page.goto(`${stage.url}/settings/api-access`)
    await page.getByRole('link', { name: 'on the network' }).click()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const field = page.getByLabel(/^Secret, \d+ characters$/)
    await field.waitFor()
    await page.evaluate('document.execCommand = () => false')
    await page.getByRole('button', { name: 'Copy the secret' }).click()
    await page.getByText('The browser could not copy.').waitFor()
    assert.equal(await page.getByText('Copied', { exact: true }).count(), 0)
    const selected = await page.evaluate(`(() => {
      const { value, selectionStart, selectionEnd } = document.activeElement
      return value.slice(selectionStart, selectionEnd)
    })()`)
    assert.equal(selected, await field.inputValue())
  })
})
