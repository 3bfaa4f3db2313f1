// A session that ends while a page is open: the reader signs in again on that page, and what was typed is still there.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  administrator,
  choose,
  openSignedInWeb,
  picture,
  seriousFindings,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

const bob = { email: 'bob@example.com', name: 'Bob', role: 'administrator' }

describe('a session that ends while a page is open', () => {
  let web: SignedInWeb
  let page: Page

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    await page.clock.install()
    await web.ask('POST', '/keys', { name: 'night job', models: ['sandbox-chat'], budget: '1' })
    const { link } = await web.ask('POST', '/people', bob)
    const own = await (await web.browser.newContext({ locale: 'en-US' })).newPage()
    await own.goto(String((link as { url: string }).url))
    await own.getByLabel('New password').fill(administrator.password)
    await own.getByRole('button', { name: 'Accept invitation' }).click()
    await own.getByRole('heading', { name: 'API access' }).waitFor()
    await own.context().close()
  })
  after(() => web.close())

  test('a form that was sent too late is still filled after the sign-in', async () => {
    await web.open('/settings/api-access/new')
    const name = page.getByRole('textbox', { name: 'Name' })
    await name.fill('typed before')
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).check()
    await page.getByRole('textbox', { name: 'Budget in USD' }).fill('3')
    await endSession()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Your session has ended.').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'session-ended')
    await signIn(administrator.email)
    assert.equal(await name.inputValue(), 'typed before')
    await page.getByText('Your session had ended, so nothing was done.').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel(/^Secret, \d+ characters$/).waitFor()
  })

  test('a new secret stays on the page', async () => {
    await endSession()
    await comeBack()
    await signIn(administrator.email)
    await page.getByLabel(/^Secret, \d+ characters$/).waitFor()
  })

  test('a dialog beneath stays open, even if Escape is pressed', async () => {
    await web.open('/settings/api-access')
    await choose(page, 'night job', 'Top up')
    const dialog = page.getByRole('dialog', { name: 'Top up night job' })
    await dialog.getByLabel('Add, in USD').fill('2')
    await dialog.getByLabel('Reason').fill('a busy week')
    await endSession()
    await dialog.getByRole('button', { name: 'Top up' }).click()
    await page.getByText('Your session has ended.').waitFor()
    await page.keyboard.press('Escape')
    await signIn(administrator.email)
    assert.equal(await dialog.getByLabel('Add, in USD').inputValue(), '2')
    await dialog.getByRole('button', { name: 'Top up' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  test('a sign-in in another tab counts here, too', async () => {
    await web.open('/settings/playground')
    const message = page.getByRole('textbox', { name: 'Message', exact: true })
    await message.fill('a long question')
    await endSession()
    await comeBack()
    await page.getByText('Your session has ended.').waitFor()
    const { email, password } = administrator
    await web.ask('POST', '/session', { email, password })
    await comeBack()
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' })
    assert.equal(await message.inputValue(), 'a long question')
  })

  test('somebody else who signs in gets a fresh page', async () => {
    await endSession()
    await comeBack()
    await page.getByText('Your session has ended.').waitFor()
    await signIn(bob.email)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByText(bob.email).waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue(), '')
  })

  test('the page forbade nothing that the form wanted to write', () =>
    assert.deepEqual(
      web.complaints.filter((text) => text.includes('Content Security Policy')),
      [],
    ))

  const endSession = () => web.context.clearCookies()

  /** Returns from another window, long after the page's data became stale. */
  async function comeBack(): Promise<void> {
    await page.clock.fastForward(60_000)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  }

  async function signIn(email: string): Promise<void> {
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('E-mail address').fill(email)
    await dialog.getByLabel(/^Password/).fill(administrator.password)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
})
