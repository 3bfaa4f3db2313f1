// A new user's journey: from the printed link to the first call, through an exhausted budget and a new secret to a
// revoked key. Every step uses the pages; every call is made as a program would.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page, Request } from 'playwright-core'
import { snippetNames } from '../../../web/src/pages/keys/snippets.ts'
import {
  administrator,
  becomeAdministrator,
  callModel,
  openWebStage,
  picture,
  seriousFindings,
  watchComplaints,
} from '../../support/web/web.ts'
import type { WebStage } from '../../support/web/web.ts'

describe('from the first start to a revoked key', () => {
  let stage: WebStage
  let page: Page
  let complaints: string[]
  let secret = ''
  let oldSecret = ''

  before(async () => {
    stage = await openWebStage()
    page = await (await stage.browser.newContext({ locale: 'en-US' })).newPage()
    complaints = watchComplaints(page)
  })
  after(() => stage.close())

  test('the printed link makes the first administrator', async () => {
    await becomeAdministrator(page, stage.setupLink)
    await page.getByRole('heading', { name: 'No API keys yet' }).waitFor()
    const steps = page.getByRole('main').getByRole('heading', { level: 3 })
    await steps.nth(4).waitFor()
    assert.deepEqual(await steps.allInnerTexts(), [
      ...['Connect a provider', 'Set the frame', 'Create the first key'],
      ...['Be told in time', 'Invite your team'],
    ])
    await page.getByLabel('Provider').selectOption('Anthropic')
    await page.getByText('export ANTHROPIC_API_KEY=…').waitFor()
    await page.getByText('api_key: "${ANTHROPIC_API_KEY}"').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'journey-1-empty')
    await page.setViewportSize({ width: 390, height: 844 })
    await picture(page, 'journey-1-empty-390')
    await page.setViewportSize({ width: 1280, height: 720 })
    await page.getByRole('navigation').getByRole('link', { name: 'Models' }).click()
    await page.getByText('Only the sandbox serves models').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'models-sandbox')
  })

  test('a page that needs a key offers to create the first one', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).click()
    await page.getByText('No API keys yet. Create key').waitFor()
  })

  test('an incomplete form says what is missing, and keeps the rest', async () => {
    await page.getByRole('link', { name: 'Create key' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('billing production')
    await page.getByRole('button', { name: 'Create key' }).click()
    const summary = page.getByRole('alert').filter({ hasText: 'values need your attention' })
    await summary.getByText('Choose at least one model.').waitFor()
    await summary.getByRole('link', { name: 'Budget in USD' }).click()
    assert.equal(await page.evaluate('document.activeElement.id'), 'field-budget')
    assert.equal(
      await page.getByRole('textbox', { name: 'Name' }).inputValue(),
      'billing production',
    )
  })

  test('a key is created, and its secret is shown once', async () => {
    await page.getByRole('textbox', { name: 'Budget in USD' }).fill('0.02')
    await page.getByLabel('Search models').fill('sandbox-chat')
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).check()
    await page.getByText('May call 1 model of 1 provider.').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Key created: billing production' })
    secret = await dialog.getByLabel(/^Secret, \d+ characters$/).inputValue()
    assert.match(secret, /^tg_live_[0-9A-Za-z]{49}$/)
    await picture(page, 'journey-2-secret')
  })

  test('the curl block works as pasted, beside the lines with the secret', async () => {
    const block = await page.getByRole('group', { name: 'curl' }).innerText()
    const lines = await page.getByRole('group', { name: 'the lines for the env' }).innerText()
    assert.ok(!block.includes(secret))
    assert.equal(
      (await runBlock(`export ${lines.replace('\n', '\nexport ')}\n${block}`)).status,
      200,
    )
  })

  test('the tabs are of clients that can call what the key may', async () => {
    const tabs = page.getByRole('tablist', { name: 'Code that reads it from there' })
    assert.deepEqual(await tabs.getByRole('tab').allInnerTexts(), Object.values(snippetNames))
    await tabs.getByRole('tab', { name: 'Python' }).click()
    await page.getByLabel('Endpoint', { exact: true }).selectOption('Messages')
    assert.match(await page.getByRole('group', { name: 'Python' }).innerText(), /from anthropic/)
    await tabs.getByRole('tab', { name: 'Claude Code' }).click()
    assert.equal(await page.getByLabel('Endpoint', { exact: true }).count(), 0)
    assert.deepEqual(await seriousFindings(page), [])
  })

  test('closing before the secret is stored asks first', async () => {
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Close without storing the secret?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
  })

  test('copying is confirmed, and counts as storing, alone or among lines', async () => {
    const done = page.getByRole('button', { name: 'Done' })
    assert.ok(await done.isDisabled())
    await page.getByRole('button', { name: 'Copy the lines for the environment' }).click()
    await page.locator('button:enabled', { hasText: 'Done' }).waitFor()
    await page.getByRole('button', { name: 'Copy the secret' }).click()
    await page.getByRole('button', { name: 'Copied' }).first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: /^billing production/, level: 1 }).waitFor()
    assert.ok(!(await page.content()).includes(secret), 'the secret is gone from the page')
  })

  test('the cost of a call appears on the page of the key', async () => {
    const meter = page.getByRole('meter', { name: 'This key' })
    const before = await meter.getAttribute('aria-valuetext')
    await page.getByRole('tab', { name: 'Requests' }).click()
    await page.getByRole('cell', { name: '200' }).first().waitFor()
    assert.equal((await ask(secret, 'Hello')).status, 200)
    await page.locator(`[role="meter"]:not([aria-valuetext="${before}"])`).first().waitFor()
    await page.getByRole('cell', { name: '200' }).nth(1).waitFor()
    await page.getByRole('button', { name: /^Updated/ }).waitFor()
    await picture(page, 'journey-3-spent')
  })

  test('a call appears in the usage of its key, whatever the minute', async () => {
    const watcher = await page.context().newPage()
    // Every new minute refetches everything, so start just after one began.
    const minuteMs = 60_000
    await watcher.clock.install({ time: Math.ceil(Date.now() / minuteMs) * minuteMs + 1_000 })
    await watcher.goto(page.url().replace(/\?.*|$/, '?tab=usage'))
    const requests = watcher.locator('dl .card').filter({ hasText: 'Requests' })
    await requests.getByText('2', { exact: true }).waitFor()
    assert.equal((await ask(secret, 'Hello')).status, 200)
    await requests.getByText('3', { exact: true }).waitFor()
    await watcher.close()
  })

  test('an exhausted budget refuses calls, and the page says which limit', async () => {
    for (;;) {
      const answer = await ask(secret, '[[sandbox tokens=4000]]')
      if (answer.status === 200) continue
      assert.deepEqual(await refusal(answer), { status: 402, code: 'key_budget_exceeded' })
      break
    }
    await page.reload()
    const verdict = page.getByRole('region', { name: 'Would a call pass now?' })
    await verdict.getByText(/^(A typical call is|Calls are) being refused$/).waitFor()
    await verdict.getByText('402 key_budget_exceeded').waitFor()
    const heading = page.getByRole('heading', { level: 1 })
    await heading.getByText(/Refusing now|Budget exhausted/).waitFor()
    await picture(page, 'journey-4-exhausted')
  })

  test('raising the budget shows the difference first, and lets calls through again', async () => {
    await page.getByRole('link', { name: 'Raise the budget' }).click()
    await page.getByRole('textbox', { name: 'Budget in USD' }).fill('1')
    await page.getByRole('button', { name: 'Review changes' }).click()
    const review = page.getByRole('dialog', { name: 'Save these changes?' })
    await review.getByText('$1.00').waitFor()
    await picture(page, 'journey-5-difference')
    await review.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('A call like its last ones would pass now').waitFor()
    assert.equal((await ask(secret, 'Hello')).status, 200)
  })

  test('a rotated key has a new secret, and the old one works for a while', async () => {
    oldSecret = secret
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    const dialog = page.getByRole('dialog')
    const rotate = dialog.getByRole('button', { name: 'Rotate secret' })
    await dialog.getByLabel('The old secret keeps working').selectOption('for another time')
    assert.ok(await rotate.isDisabled())
    await dialog.getByLabel('How long').fill('169')
    await dialog.getByText('Enter a whole number that comes to at most 7 days.').waitFor()
    await dialog.getByLabel('How long').fill('36')
    await dialog.getByText(/works until/).waitFor()
    await rotate.click()
    secret = await page.getByLabel(/^Secret, \d+ characters$/).inputValue()
    assert.notEqual(secret, oldSecret)
    await page.getByLabel('I have stored the secret').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Old secret', { exact: true }).waitFor()
    await page.getByText('not used yet').waitFor()
    for (const each of [secret, oldSecret]) assert.equal((await ask(each, 'Hello')).status, 200)
  })

  test('the page shows the use of both secrets, warns that a third ends one, and can end the old one early', async () => {
    await page.getByText('not used yet').waitFor({ state: 'hidden' })
    assert.equal(await page.getByText(/^last used /).count(), 2)
    const size = page.viewportSize()
    await page.setViewportSize({ width: 1100, height: 900 })
    const [fact, button] = await Promise.all(
      [page.getByText(/^works until /), page.getByRole('button', { name: 'End now' })].map((each) =>
        each.boundingBox(),
      ),
    )
    assert.ok(fact && button && button.y < fact.y + fact.height, 'what ends a secret is in its row')
    if (size) await page.setViewportSize(size)
    await picture(page, 'journey-6-two-secrets')
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    const end = `…${oldSecret.slice(-4)} stops working at once.`
    await page.getByRole('dialog').getByText(end).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'End now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End old secret' }).click()
    await page.getByText('Old secret', { exact: true }).waitFor({ state: 'hidden' })
  })

  test('revoking requires a reason and the name, and then calls fail', async () => {
    await page.getByRole('button', { name: 'Actions for billing production' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    const dialog = page.getByRole('dialog', { name: 'Revoke billing production?' })
    const button = dialog.getByRole('button', { name: 'Revoke key' })
    assert.ok(await button.isDisabled())
    await dialog.getByLabel('Reason').fill('no longer needed')
    await dialog.getByLabel(/^It is in use/).fill('billing production')
    await picture(page, 'journey-7-revoke')
    await button.click()
    await page.getByText(new RegExp(`^Revoked .+ by ${administrator.email}$`)).waitFor()
    await page.getByText('no longer needed').waitFor()
    const answer = await ask(secret, 'Hello')
    assert.deepEqual(await refusal(answer), { status: 401, code: 'revoked_api_key' })
    await picture(page, 'journey-8-revoked')
  })

  test('the activity lists every step', async () => {
    await page.getByRole('tab', { name: 'Activity' }).click()
    for (const words of [
      'created the key',
      'changed the key',
      'rotated the secret',
      'revoked the key',
    ])
      await page.getByText(words).first().waitFor()
    await picture(page, 'journey-9-activity')
  })

  test('the list says that every key is revoked, and shows them', async () => {
    await page.getByRole('link', { name: 'API access' }).first().click()
    await page.getByRole('heading', { name: 'Every key is revoked' }).waitFor()
    await picture(page, 'journey-10-all-revoked')
    await page.getByRole('button', { name: 'Show revoked keys' }).click()
    await page.locator('tbody th a').first().click()
    await page.getByRole('tab', { name: 'Activity' }).click()
  })

  test('signing out ends the session, and the page requests nothing meanwhile', async () => {
    // A key's page refetches every few seconds: let an hour pass before the gateway answers.
    await page.clock.install()
    await page.reload()
    await page.getByRole('tab', { name: 'Activity' }).waitFor()
    const asked: string[] = []
    // The script of the page that the open menu leads to first may be fetched ahead; it tells nothing.
    const note = (request: Request) => {
      if (request.url().includes('/admin/api/')) asked.push(request.url())
    }
    await page.route('**/session', async (route) => {
      if (route.request().method() === 'DELETE') {
        page.on('request', note)
        // It would ask for new figures several times. The page waits for an answer for ten seconds more than this.
        await page.clock.runFor(20_000)
        page.off('request', note)
      }
      await route.fallback()
    })
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.deepEqual(asked, [])
    await page.goto(`${stage.url}/settings/api-access`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('the journey causes no browser errors', () => assert.deepEqual(complaints, []))

  function ask(key: string, content: string): Promise<Response> {
    return callModel(stage.url, key, content)
  }
})

async function refusal(answer: Response): Promise<{ status: number; code: string }> {
  const { error } = JSON.parse(await answer.text())
  return { status: answer.status, code: error.code }
}

/** Parses the curl command, because the machine may lack curl. */
function runBlock(block: string): Promise<Response> {
  const [, key = ''] = /^export TOLLGATE_API_KEY=(\S+)$/m.exec(block) ?? []
  const [, address = ''] = /^curl (\S+)/m.exec(block) ?? []
  const [, body = ''] = /-d '([^']+)'$/.exec(block) ?? []
  const headers = [...block.matchAll(/-H "(.+?): (.+?)"/g)].map(
    ([, name = '', value = '']): [string, string] => [
      name,
      value.replace('$TOLLGATE_API_KEY', key),
    ],
  )
  return fetch(address, { method: 'POST', headers, body })
}
