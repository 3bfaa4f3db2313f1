// The playground in a real browser: the answer appears as it comes, with what it has cost so far; it can be stopped, and
// taken along as code.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { allFindings, newKey, openSignedInWeb, picture } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('the playground', () => {
  let web: SignedInWeb
  let page: Page
  let key: string

  before(async () => {
    web = await openSignedInWeb()
    ;({ page } = web)
    key = (await newKey(web, 'trial')).id
    await web.open(`/settings/playground?key=${key}`)
  })
  after(() => web.close())

  const field = () => page.getByRole('textbox', { name: 'Message', exact: true })
  const answer = () => page.getByRole('listitem').last().locator('p').first()
  const say = async (message: string) => {
    await field().fill(message)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  const leftCalls = async (): Promise<number> => {
    const { requests } = await web.ask('GET', `/keys/${key}/requests`)
    return (requests as readonly { code: string }[]).filter(({ code }) => code === 'client_gone')
      .length
  }

  test('the answer grows while it comes, with an estimate of its cost', async () => {
    await say('Say once upon a time there was a gate [[sandbox tokens=80 gap=100ms]]')
    await page.getByText(/first token after .* ms · about \d+ tokens so far, \$0\.0/).waitFor()
    const early = await answer().innerText()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    // Read out when it is whole.
    await page.locator('ol[aria-live="polite"][aria-busy="true"]').waitFor()
    await page.getByText(/first token after .* ms · \d+ tokens in, 80 out, \$/).waitFor()
    const whole = await answer().innerText()
    assert.ok(whole.startsWith(early) && whole.length > early.length, `${early} → ${whole}`)
    await page.locator('ol[aria-live="polite"][aria-busy="false"]').waitFor()
    assert.deepEqual(await allFindings(page), [])
    await picture(page, 'playground-answered')
  })

  test('it can be stopped by keyboard, and what it cost is in the books', async () => {
    await say('[[sandbox tokens=900 gap=100ms]]')
    await page.getByText(/tokens so far/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(/^Stopped · .* tokens in, \d+ out, \$/).waitFor()
    await page.keyboard.type('And then')
    assert.equal(await field().inputValue(), 'And then')
    assert.equal(await leftCalls(), 1)
  })

  test('leaving the page stops it, too', async () => {
    await say('[[sandbox tokens=900 gap=100ms]]')
    await page.getByText(/tokens so far/).waitFor()
    await web.follow('/settings/models')
    await until(async () => (await leftCalls()) === 2)
    await web.open(`/settings/playground?key=${key}`)
  })

  test('a failure midway leaves what had come', async () => {
    await say('[[sandbox tokens=60 cut=30 error=529]]')
    await page.getByText(/^Refused with status 5\d\d/).waitFor()
    assert.notEqual(await answer().innerText(), '')
  })

  test('the call can be taken along as code, without the secret', async () => {
    await page.getByLabel('System message').fill('Be brief.')
    await field().fill("What's new?")
    await page.getByRole('button', { name: 'Show as code' }).click()
    const dialog = page.getByRole('dialog', { name: 'This call as code' })
    await dialog.getByText('/v1/chat/completions').waitFor()
    assert.deepEqual(await allFindings(page), [])
    await picture(page, 'playground-code')
    for (const tab of ['curl', 'Python', 'TypeScript']) {
      await dialog.getByRole('tab', { name: tab }).click()
      const code = await dialog.locator('pre').innerText()
      for (const part of ['sandbox-chat', 'Be brief.', 'new?', 'TOLLGATE_API_KEY', '512'])
        assert.ok(code.includes(part), `${part} in ${code}`)
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.locator('button:focus', { hasText: 'Show as code' }).waitFor()
  })

  test('there are no browser errors', () => assert.deepEqual(web.complaints, []))
})
