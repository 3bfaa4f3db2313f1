// Typed text and one-time secrets stay on the screen, whatever the page refetches meanwhile.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page, Request, Route } from 'playwright-core'
import { administrator, choose, openSignedInWeb } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('nothing is lost', () => {
  let web: SignedInWeb
  let page: Page

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    await page.clock.install()
  })
  after(() => web.close())

  test('a form keeps typed values when somebody else changes the key', async () => {
    const { id, version } = await web.ask('POST', '/keys', {
      name: 'before',
      models: ['sandbox-chat'],
      budget: '1',
    })
    await web.open(`/settings/api-access/${id}/edit`)
    const budget = page.getByRole('textbox', { name: 'Budget in USD' })
    await budget.fill('7')
    const { url, context } = web
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
    const conflict = page.getByRole('dialog', { name: 'Changed in the meantime' })
    await conflict.getByText('renamed').waitFor()
    await conflict.getByRole('button', { name: 'Start over from theirs' }).click()
    await conflict.waitFor({ state: 'hidden' })
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'renamed')
    assert.equal(await budget.inputValue(), '1')
  })

  test('thresholds keep typed values when somebody else saves others', async () => {
    await web.ask('PUT', '/frame/alerts', { thresholds: [60] })
    await web.open('/settings/alerts')
    const thresholds = page.getByRole('combobox', { name: 'Percent of the limit' })
    await thresholds.fill('75')
    await thresholds.press('Enter')
    await web.ask('PUT', '/frame/alerts', { thresholds: [90] })
    const answer = page.waitForResponse('**/frame/alerts')
    await comeBack()
    await (await answer).finished()
    await page.clock.runFor(1_000)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The thresholds were saved.').waitFor()
    assert.deepEqual((await web.ask('GET', '/frame/alerts'))['thresholds'], [60, 75])
  })

  test('thresholds that are switched off need not be valid', async () => {
    const thresholds = page.getByRole('combobox', { name: 'Percent of the limit' })
    await thresholds.fill('often')
    await thresholds.press('Enter')
    await page.getByText('Enter whole numbers from 1 to 1,000.').waitFor()
    await page.getByRole('switch', { name: 'Own thresholds' }).uncheck()
    const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT')
    await page.getByRole('button', { name: 'Save changes' }).click()
    assert.equal((await saved).status(), 200)
    assert.equal((await web.ask('GET', '/frame/alerts'))['own'], false)
  })

  test('renaming a role keeps the permissions that somebody else gave it', async () => {
    const { id } = await web.ask('POST', '/roles', { name: 'reader', permissions: ['usage:read'] })
    await web.open('/settings/roles')
    await choose(page, 'reader', 'Edit')
    const dialog = page.getByRole('dialog', { name: 'Change the role reader' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('auditor')
    const permissions = ['usage:read', 'audit:read']
    await web.ask('PATCH', `/roles/${id}`, { permissions })
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('columnheader', { name: /^auditor/ }).waitFor()
    const { roles } = await web.ask('GET', '/roles')
    const renamed = Object(roles).find((role: { id: string }) => role.id === id)
    assert.deepEqual(renamed.permissions, permissions)
  })

  test('a new secret stays visible when its key leaves the list', async () => {
    const models = ['sandbox-chat']
    const { id } = await web.ask('POST', '/keys', { name: 'rotated', models, budget: '1' })
    await web.open('/settings/api-access?status=active&search=rotated')
    await rotate('rotated')
    await web.ask('POST', `/keys/${id}/pause`)
    await comeBack()
    await page.getByText('No key matches').waitFor()
    await secret().waitFor()
  })

  test('a double click rotates once, and shows the new secret', async () => {
    await web.open('/settings/api-access?search=rotated')
    await choose(page, 'rotated', 'Rotate secret')
    const sent: string[] = []
    const note = (request: Request) => request.method() === 'POST' && sent.push(request.url())
    page.on('request', note)
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).dblclick()
    await secret().waitFor()
    page.off('request', note)
    assert.equal(sent.length, 1)
  })

  test('a double click on what opens a dialog leaves it open', async () => {
    await web.open('/settings/api-access/frame')
    await page.getByRole('button', { name: 'Top up' }).dblclick()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('a busy week')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  test('going back in the browser asks first', async () => {
    await web.open('/settings/models')
    await page.getByRole('navigation').getByRole('link', { name: 'API access' }).click()
    await rotate('rotated')
    await page.goBack()
    const question = page.getByRole('dialog', { name: 'Close without storing the secret?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    await secret().waitFor()
  })

  test('a form for a copy of an unknown key keeps typed values, and shows the new secret', async () => {
    await page.goto(`${web.url}/settings/api-access/new?from=key_unknown`)
    const name = page.getByRole('textbox', { name: 'Name' })
    await name.fill('without a model')
    const asked = page.waitForResponse('**/keys/key_unknown')
    await comeBack()
    await (await asked).finished()
    await page.clock.runFor(1_000)
    assert.equal(await name.inputValue(), 'without a model')
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).check()
    await page.getByRole('textbox', { name: 'Budget in USD' }).fill('1')
    await page.getByRole('button', { name: 'Create key' }).click()
    await secret().waitFor()
  })

  test('a bulk budget change can be sent again with another value after a lost answer', async () => {
    await web.open('/settings/api-access?search=without+a+model')
    await page.getByRole('checkbox', { name: /^Select key/ }).check()
    await page.getByRole('button', { name: 'Set budget' }).click()
    await page.route('**/keys/bulk', lose, { times: 1 })
    const dialog = page.getByRole('dialog')
    for (const budget of ['7', '8']) {
      await dialog.getByLabel('Budget in USD, for each key').fill(budget)
      await dialog.getByRole('button', { name: 'Set budget' }).click()
      if (budget === '7') await dialog.getByText('The gateway does not answer.').waitFor()
    }
    await dialog.getByText('1 key was changed.').waitFor()
  })

  test('a top-up sent again with another amount after a lost answer is refused', async () => {
    await page.keyboard.press('Escape')
    await choose(page, 'without a model', 'Top up')
    await page.route('**/top-up', lose, { times: 1 })
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('a busy week')
    for (const amount of ['1', '2']) {
      await dialog.getByLabel('Add, in USD').fill(amount)
      await dialog.getByRole('button', { name: 'Top up' }).click()
      if (amount === '1') await dialog.getByText('The gateway does not answer.').waitFor()
    }
    await dialog.getByText('This was already sent with other values').waitFor()
    await page.keyboard.press('Escape')
  })

  test('a new secret is shown before the lists are refetched', async () => {
    await web.open('/settings/profile')
    await page.getByRole('button', { name: 'New access token' }).click()
    await page.route('**/profile/tokens', (route) =>
      route.request().method() === 'GET' ? undefined : route.fallback(),
    )
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What it is for').fill('script')
    await dialog.getByLabel('Current password').fill(administrator.password)
    await dialog.getByRole('button', { name: 'Create token' }).click()
    await dialog.getByRole('group', { name: 'access token', exact: true }).waitFor()
    await page.unroute('**/profile/tokens')
  })

  /** The gateway carries out the request, but its answer is lost. */
  async function lose(route: Route): Promise<void> {
    await route.fetch()
    await route.abort()
  }

  const secret = () => page.getByLabel(/^Secret, \d+ characters$/)

  async function rotate(name: string): Promise<void> {
    await choose(page, name, 'Rotate secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await secret().waitFor()
  }

  /** Returns from another window, long after the page's data became stale. */
  async function comeBack(): Promise<void> {
    await page.clock.fastForward(60_000)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  }
})
