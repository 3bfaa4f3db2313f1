// Lists: on a phone they begin short; a change of many keys is as deliberate as one of a single key, and touches only
// keys in sight; a request opens into everything that is known of it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { callModel, openSignedInWeb, picture, seriousFindings } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

const screensMax = 6
const environments = [null, null, 'production', 'staging', 'Production']

describe('lists', () => {
  let web: SignedInWeb
  let page: Page

  before(async () => {
    web = await openSignedInWeb()
    ;({ page } = web)
    const named = { models: ['sandbox-chat'], budget: '1' }
    const first = await web.ask('POST', '/keys', { ...named, name: 'key 0' })
    for (let index = 1; index < 12; index += 1)
      await web.ask('POST', '/keys', {
        ...{ ...named, name: `key ${index}`, period: 'day' },
        environment: environments[index] ?? null,
      })
    for (let index = 0; index < 12; index += 1)
      await callModel(web.url, String(first['secret']), 'Hello')
  })
  after(() => web.close())

  for (const path of ['/settings/api-access', '/settings/requests'])
    test(`${path} shows ten at first on a phone, and all on demand`, async () => {
      await page.setViewportSize({ width: 390, height: 844 })
      await web.open(path)
      const rows = page.locator('tbody tr')
      await rows.nth(9).waitFor()
      assert.equal(await rows.nth(10).isVisible(), false)
      assert.ok((await page.evaluate<number>('document.body.scrollHeight')) <= screensMax * 844)
      assert.deepEqual(await seriousFindings(page), [])
      await picture(page, `phone${path.replaceAll('/', '-')}`)
      await page.getByRole('button', { name: 'Show all 12' }).click()
      await rows.nth(11).waitFor()
      await page.setViewportSize({ width: 1440, height: 900 })
      assert.equal(await page.getByRole('button', { name: 'Show all 12' }).count(), 0)
    })

  test('twelve keys are in sight, below a frame that folds to one line', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await web.open('/settings/api-access')
    const box = await page.locator('tbody tr').nth(11).boundingBox()
    assert.ok(box && box.y + box.height <= 900, `the 12th ends at ${box && box.y + box.height}`)
    assert.ok(box.height <= 42, `${box.height} pixels for one line`)
    const held = page.getByText('held for calls in flight')
    assert.equal(await held.isVisible(), false)
    await picture(page, 'overview-dense')
    await page.getByRole('button', { name: 'Budget frame' }).click()
    await held.waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await page.getByRole('button', { name: 'Budget frame' }).click()
    await held.waitFor({ state: 'hidden' })
  })

  test('several values can be chosen of one kind, from those that keys have', async () => {
    await web.open('/settings/api-access')
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    const field = page.getByRole('combobox', { name: 'Environment' })
    for (const each of ['production', 'staging']) {
      await field.fill(each)
      await page.getByRole('option', { name: each }).click()
    }
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'overview-several')
    // It closes what is open on top, and only that.
    await field.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Apply' }).waitFor()
    await field.press('Escape')
    await page.getByRole('button', { name: 'Apply' }).waitFor({ state: 'hidden' })
    await page.locator('button:focus', { hasText: 'Filters' }).press('Enter')
    for (const each of ['production', 'staging']) {
      await field.fill(each)
      await page.getByRole('option', { name: each }).click()
    }
    await field.press('Tab')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Environment: Production and staging').waitFor()
    await page.getByRole('link', { name: 'key 0' }).waitFor({ state: 'detached' })
    const names = await page.locator('tbody th a:first-of-type').allTextContents()
    assert.deepEqual(names, ['key 2', 'key 3', 'key 4'])
    await page.getByRole('link', { name: 'staging' }).click()
    await page.getByRole('link', { name: 'key 2' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'key 3' }).waitFor()
  })

  test('a request says how long it took to begin, and for whom it was made', async () => {
    await web.open('/settings/requests')
    await page.locator('tbody th button').first().click()
    const drawer = page.getByRole('dialog')
    for (const fact of ['First token after', 'Reasoning tokens', 'End user', 'Duration'])
      await drawer.getByText(fact).waitFor()
    await picture(page, 'request-drawer')
  })

  test('a filter takes what it hides out of the selection', async () => {
    await web.open('/settings/api-access')
    await page.getByRole('checkbox', { name: 'Select all keys of this page' }).check()
    await page.getByText('12 keys selected').last().waitFor()
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('key 1')
    await page.getByText('3 keys selected').last().waitFor()
  })

  test('budgets of many keys are shown with their periods before they change', async () => {
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('')
    await page.getByRole('checkbox', { name: 'Select key key 0' }).check()
    await page.getByRole('button', { name: 'Set budget' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('$1.00 a month').waitFor()
    await dialog.getByText('$1.00 a day').first().waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  })

  test('revoking many keys shows who uses them, and takes their number', async () => {
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This key was never used.').first().waitFor()
    await dialog.getByText(/^Last used/).waitFor()
    await dialog.getByLabel('Reason').fill('a demonstration')
    const revoke = dialog.getByRole('button', { name: 'Revoke' })
    assert.ok(await revoke.isDisabled())
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'bulk-revoke')
    await dialog.getByLabel('Type 4 to confirm').fill('4')
    await revoke.click()
    await page.getByText('4 keys were changed.').waitFor()
  })
})
