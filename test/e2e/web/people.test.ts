// People and the own account in the pages: addresses change, people are blocked, tokens end, and each change takes
// effect for the person at once.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { systemClock } from '../../../src/core/clock.ts'
import { openStore } from '../../../src/store/open.ts'
import { findPerson } from '../../../src/store/people/people.ts'
import { providerIdOf } from '../../../src/store/people/sign-in.ts'
import {
  administrator,
  choose,
  openSignedInWeb,
  picture,
  seriousFindings,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('people and accounts', () => {
  let web: SignedInWeb
  let page: Page
  /** Bob, in his own browser. */
  let bob: Page

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    const invited = { email: 'bob@example.com', name: 'Bob', role: 'viewer' }
    const { link } = await web.ask('POST', '/people', invited)
    bob = await (await web.browser.newContext({ locale: 'en-US' })).newPage()
    await bob.goto(String((link as { url: string }).url))
    await bob.getByLabel('New password').fill(administrator.password)
    await bob.getByRole('button', { name: 'Accept invitation' }).click()
    await bob.getByRole('heading', { name: 'API access' }).waitFor()
  })
  after(() => web.close())

  test('changing one’s own address requires the password', async () => {
    await web.open('/settings/profile')
    await page.getByRole('button', { name: 'Change e-mail address' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change e-mail address' })
    await dialog.getByLabel('New e-mail address').fill('bob@example.com')
    await dialog.getByLabel('Current password').fill('nothing like it')
    await dialog.getByRole('button', { name: 'Change e-mail address' }).click()
    await dialog.getByText('This is not your password.').waitFor()
    await dialog.getByLabel('Current password').fill(administrator.password)
    await dialog.getByRole('button', { name: 'Change e-mail address' }).click()
    await dialog.getByText('bob@example.com already has an account here.').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'profile-email')
    await dialog.getByLabel('New e-mail address').fill('ann.new@example.com')
    await dialog.getByRole('button', { name: 'Change e-mail address' }).click()
    await page.getByRole('heading', { name: 'ann.new@example.com' }).waitFor()
  })

  test('changing somebody else’s address ends their sessions', async () => {
    await web.open('/settings/people')
    await choose(page, 'Bob', 'Change name, address or role')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail address').fill('robert@example.com')
    await dialog.getByText('All sessions of this person end').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'people-email')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('robert@example.com').waitFor()
    await bob.reload()
    await bob.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn('robert@example.com')
  })

  test('a blocked person is out at once, and can sign in again when unblocked', async () => {
    await choose(page, 'Bob', 'Block')
    await page.getByRole('dialog').getByRole('button', { name: 'Block' }).click()
    await page.getByRole('row', { name: /Bob/ }).getByText('Blocked').waitFor()
    await bob.reload()
    await bob.getByRole('heading', { name: 'Sign in' }).waitFor()
    await choose(page, 'Bob', 'Unblock')
    await page.getByRole('dialog').getByRole('button', { name: 'Unblock' }).click()
    await page.getByRole('row', { name: /Bob/ }).getByText('Active').waitFor()
    await signIn('robert@example.com')
  })

  test('unlinking a person from single sign-on ends their sessions', async () => {
    await linkToProvider('robert@example.com')
    await web.open('/settings/people')
    await choose(page, 'Bob', 'Unlink from single sign-on')
    const dialog = page.getByRole('dialog', { name: 'Unlink Bob from single sign-on?' })
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'people-unlink')
    await dialog.getByRole('button', { name: 'Unlink' }).click()
    await page.getByText('Bob is unlinked.').waitFor()
    await bob.goto(`${web.url}/sign-in?error=already_linked`)
    await bob.getByText('is linked to another identity at the provider').waitFor()
    await signIn('robert@example.com')
  })

  test('signing in leads to the requested page', async () => {
    await bob.context().clearCookies()
    const wanted = '/settings/models?search=reasoner&sort=id'
    await bob.goto(web.url + wanted)
    await bob.getByRole('heading', { name: 'Sign in' }).waitFor()
    await bob.getByText('You are not signed in, or your session has ended.').waitFor()
    await signIn('robert@example.com', 'Models')
    assert.equal(bob.url(), web.url + wanted)
    assert.equal(await bob.getByRole('combobox', { name: 'Search' }).inputValue(), 'reasoner')
  })

  test('signing in never leads to another site', async () => {
    for (const next of ['https://evil.example', '//evil.example', '/\\evil.example']) {
      await bob.context().clearCookies()
      await bob.goto(`${web.url}/sign-in?next=${encodeURIComponent(next)}`)
      await signIn('robert@example.com')
      assert.equal(bob.url(), `${web.url}/settings/api-access`, next)
    }
  })

  test('a removed person is gone, but stays on record', async () => {
    await choose(page, 'Bob', 'Remove')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('row', { name: /Bob/ }).waitFor({ state: 'detached' })
    await bob.reload()
    await bob.getByRole('heading', { name: 'Sign in' }).waitFor()
    await web.open('/settings/audit')
    await page.getByText('removed robert@example.com').waitFor()
    await page.getByText('after: robert@example.com').waitFor()
  })

  test('a personal access token works until it is revoked', async () => {
    await web.open('/settings/profile')
    await page.getByRole('button', { name: 'New access token' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What it is for').fill('nightly report')
    const create = dialog.getByRole('button', { name: 'Create token' })
    assert.ok(await create.isDisabled(), 'not without the password')
    await dialog.getByLabel('Current password').fill('somebody else’s')
    await create.click()
    await dialog.getByText('This is not your password.').waitFor()
    await dialog.getByLabel('Current password').fill(administrator.password)
    await create.click()
    const token = await dialog.getByLabel('access token', { exact: true }).innerText()
    const status = async () =>
      (
        await fetch(`${web.url}/admin/api/v1/keys`, {
          headers: { authorization: `Bearer ${token.trim()}` },
        })
      ).status
    assert.equal(await status(), 200)
    await dialog.getByRole('button', { name: 'Done' }).click()
    const question = page.getByRole('dialog', { name: 'Close without copying?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await dialog.getByRole('button', { name: 'Copy access token', exact: true }).click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Revoke nightly report' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('nightly report no longer works.').waitFor()
    assert.equal(await status(), 401)
    await page.getByText('No access tokens').waitFor()
  })

  /** As if they had come by single sign-on. */
  async function linkToProvider(email: string): Promise<void> {
    const store = await openStore(web.env['TOLLGATE_DATABASE'] ?? '', { clock: systemClock })
    const person = await findPerson(store.db, { email })
    const at = new Date().toISOString()
    await store.db
      .insertInto('identities')
      .values({
        id: 'identity',
        person_id: person?.id ?? '',
        provider_id: providerIdOf('https://sso.example.com'),
        subject: 'b1',
        created_at: at,
        updated_at: at,
      })
      .execute()
    await store.close()
  }

  async function signIn(email: string, arrivesAt = 'API access'): Promise<void> {
    await bob.getByLabel('E-mail address').fill(email)
    await bob.getByLabel(/^Password/).fill(administrator.password)
    await bob.getByRole('button', { name: 'Sign in' }).click()
    await bob.getByRole('heading', { name: arrivesAt }).waitFor()
  }
})
