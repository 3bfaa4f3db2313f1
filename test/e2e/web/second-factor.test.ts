// A second factor that is required, in a real browser: every page says by when, and afterwards leads to the own account.
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { systemClock } from '../../../src/core/clock.ts'
import { openStore } from '../../../src/store/open.ts'
import {
  assertOnEveryScreen,
  openSignedInWeb,
  speakGerman,
  type SignedInWeb,
} from '../../support/web/web.ts'

describe('a required second factor', () => {
  let web: SignedInWeb
  let page: Page

  before(async () => {
    web = await openSignedInWeb('people: { require_second_factor: all }')
    ;({ page } = web)
  })
  after(() => web.close())

  test('every page says by when, and leads to the account', async () => {
    await page.getByText(/^A second factor is required of you by /).waitFor()
    await assertOnEveryScreen(page, 'second-factor-english')
    await page.getByRole('link', { name: 'Set it up' }).click()
    await page.getByRole('heading', { name: 'Your account', level: 1 }).waitFor()
  })

  test('when the time is over, nothing else is open', async () => {
    const store = await openStore(web.env['TOLLGATE_DATABASE'] ?? '', {
      ...{ clock: systemClock, purpose: 'change' },
    })
    await store.db.updateTable('people').set({ second_factor_due_at: 1 }).execute()
    await store.close()
    await page.goto(`${web.url}/settings/api-access`)
    await page.getByText('until you set it up, nothing else is open').waitFor()
    await page.getByRole('heading', { name: 'Not permitted', level: 1 }).waitFor()
    await speakGerman(page)
    await assertOnEveryScreen(page, 'second-factor-german')
    await page.getByRole('link', { name: 'Einrichten' }).click()
    await page.getByRole('heading', { name: 'Ihr Konto', level: 1 }).waitFor()
  })
})
