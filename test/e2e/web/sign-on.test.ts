// A new developer comes by single sign-on, in a real browser: from the sign-in page to the first call in few steps, because
// the provider says which group they belong to. And what claims would give can be tried.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Browser, tokenOf } from '../../support/browser.ts'
import { signOnConfig, startOidcProvider, type OidcProvider } from '../../support/oidc.ts'
import {
  administrator,
  assertOnEveryScreen,
  callModel,
  newVisitor,
  openWebStage,
  picture,
  speakGerman,
  type WebStage,
} from '../../support/web/web.ts'

const config = (provider: OidcProvider) => `${signOnConfig(provider)}
people:
  single_sign_on:
    groups:
      map:
        - { value: eng-search, group: search, role: Member }
        - { value: platform, role: Administrator }
        - { value: lost, group: nowhere, role: Member }
`

describe('single sign-on in the browser', () => {
  let provider: OidcProvider
  let web: WebStage
  let page: Page

  before(async () => {
    provider = await startOidcProvider()
    web = await openWebStage(undefined, config(provider))
    const admin = new Browser(web.url)
    const use = { token: tokenOf(web.setupLink), ...administrator }
    assert.equal((await admin.post('/links/use', use)).status, 200)
    const rules = {
      self_service: true,
      budget_max: { budget: '10', period: 'month' },
      days_max: 30,
    }
    const group = { name: 'search', models: ['sandbox-chat'], key_rules: rules }
    assert.equal((await admin.post('/groups', group)).status, 201)
  })
  after(async () => {
    await web.close()
    await provider[Symbol.asyncDispose]()
  })

  async function comeAs(sub: string, groups: readonly string[]): Promise<void> {
    provider.person = { sub, email: `${sub}@example.com`, email_verified: true, name: sub, groups }
    page = await newVisitor(web)
    await page.goto(web.url)
    await page.getByRole('button', { name: 'Acme' }).click()
  }

  test('a new developer makes the first call after a handful of steps', async () => {
    await comeAs('dev', ['eng-search'])
    await page.getByRole('heading', { name: 'My keys', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Create key' })
    await dialog.getByLabel('Name').fill('notebook')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const secret = await page.getByLabel(/^Secret/).inputValue()
    const answer = await callModel(web.url, secret, 'Say hello.')
    assert.equal(answer.status, 200, await answer.text())
    await page.context().close()
  })

  test('what claims would give is tried under People', async () => {
    await comeAs('lead', ['platform'])
    await page.getByRole('heading', { name: 'API access', level: 1 }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'People' }).click()
    const row = page.getByRole('row').filter({ hasText: 'lead@example.com' })
    await row.waitFor()
    assert.match(await row.innerText(), /from single sign-on/)
    await page.getByRole('button', { name: 'Try single sign-on' }).click()
    const dialog = page.getByRole('dialog', { name: 'What would these claims give?' })
    await dialog.getByLabel('Claims, as JSON').fill('{ "groups": ')
    await dialog.getByText('This is not a JSON object.').waitFor()
    await dialog.getByLabel('Claims, as JSON').fill('{ "groups": ["eng-search", "cooks", "lost"] }')
    await dialog.getByRole('button', { name: 'Try it' }).press('Enter')
    await dialog.getByText('They come without an invitation.').waitFor()
    await dialog.getByText('These give nothing: cooks').waitFor()
    await dialog.getByText('names what does not exist: nowhere').waitFor()
    await assertOnEveryScreen(page, 'sign-on-english')
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await speakGerman(page)
    await page.getByRole('button', { name: 'Single Sign-on probieren' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Probieren' }).click()
    await page.getByText('Der Zugang ist ohne Einladung offen.').waitFor()
    await picture(page, 'sign-on-german-dark-1440')
    await page.context().close()
  })
})
