// What somebody typed and what is shown only once stays on the screen, whatever the page asks the gateway meanwhile.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { choose, openWebDesk } from '../support/web.ts'
import type { WebDesk } from '../support/web.ts'

describe('nothing is lost', () => {
  let desk: WebDesk
  let page: Page

  before(async () => {
    desk = await openWebDesk()
    page = desk.page
    await page.clock.install()
  })
  after(() => desk.close())

  test('a form keeps what was typed when somebody else changes the key', async () => {
    const { id, version } = await desk.ask('POST', '/keys', {
      name: 'before',
      models: ['sandbox-chat'],
      budget: '1',
    })
    await desk.open(`/settings/api-access/${id}/edit`)
    const budget = page.getByRole('textbox', { name: 'Budget in USD' })
    await budget.fill('7')
    const { url, context } = desk
    const renamed = await context.request.patch(`${url}/admin/api/v1/keys/${id}`, {
      headers: { origin: url, 'if-match': String(version) },
      data: { name: 'renamed' },
    })
    assert.equal(renamed.status(), 200)
    await comeBack()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText('renamed').waitFor()
    assert.equal(await budget.inputValue(), '7')
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    const conflict = page.getByRole('dialog', { name: 'This key has been changed in the meantime' })
    await conflict.getByText('renamed').waitFor()
    await conflict.getByRole('button', { name: 'Start over from theirs' }).click()
    await conflict.waitFor({ state: 'hidden' })
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'renamed')
    assert.equal(await budget.inputValue(), '1')
  })

  test('thresholds keep what was typed when somebody else saves others', async () => {
    await desk.ask('PUT', '/frame/alerts', { thresholds: [60] })
    await desk.open('/settings/alerts')
    const thresholds = page.getByRole('combobox', { name: 'Percent of the limit' })
    await thresholds.fill('75')
    await thresholds.press('Enter')
    await desk.ask('PUT', '/frame/alerts', { thresholds: [90] })
    const answer = page.waitForResponse('**/frame/alerts')
    await comeBack()
    await (await answer).finished()
    await page.clock.runFor(1_000)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The thresholds were saved.').waitFor()
    assert.deepEqual((await desk.ask('GET', '/frame/alerts'))['thresholds'], [60, 75])
  })

  test('thresholds that are no longer wanted need not be right', async () => {
    const thresholds = page.getByRole('combobox', { name: 'Percent of the limit' })
    await thresholds.fill('often')
    await thresholds.press('Enter')
    await page.getByText('Write whole numbers from 1 to 1000.').waitFor()
    await page.getByRole('switch', { name: 'Own thresholds' }).uncheck()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The thresholds were saved.').last().waitFor()
    await page.getByRole('button', { name: 'Save changes', disabled: true }).waitFor()
    assert.equal((await desk.ask('GET', '/frame/alerts'))['own'], false)
  })

  test('a role that is renamed keeps the permissions that somebody else gave it', async () => {
    const { id } = await desk.ask('POST', '/roles', { name: 'reader', permissions: ['usage:read'] })
    await desk.open('/settings/roles')
    await choose(page, 'reader', 'Edit')
    const dialog = page.getByRole('dialog', { name: 'Change the role reader' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('auditor')
    const permissions = ['usage:read', 'audit:read']
    await desk.ask('PATCH', `/roles/${id}`, { permissions })
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('columnheader', { name: /^auditor/ }).waitFor()
    const { roles } = await desk.ask('GET', '/roles')
    const renamed = Object(roles).find((role: { id: string }) => role.id === id)
    assert.deepEqual(renamed.permissions, permissions)
  })

  /** From another window, long after the answers on the page have become old. */
  async function comeBack(): Promise<void> {
    await page.clock.fastForward(60_000)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  }
})
