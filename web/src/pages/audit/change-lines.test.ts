// Changes read as sentences: money, dates and names in the reader's language.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import de from '../../i18n/de.json' with { type: 'json' }
import en from '../../i18n/en.json' with { type: 'json' }
import { formatFor } from '../../i18n/format.ts'
import { textsOf } from '../../i18n/i18n.ts'
import { recordedLine } from './change-lines.ts'

const english = { ...textsOf('en', en), format: formatFor('en-US') }
const german = { ...textsOf('de', de), format: formatFor('de-DE') }

for (const { change, words, told } of [
  { change: ['budget', '100', '150.5'], words: english, told: 'Budget: $100.00 → $150.50' },
  { change: ['budget', null, '0'], words: german, told: 'Budget: kein Limit → 0,00 $' },
  { change: ['spent', '12', '0'], words: english, told: 'Spent: $12.00 → $0.00' },
  { change: ['cost', '0.5', '0.25'], words: english, told: 'Cost: $0.50 → $0.25' },
  { change: ['status', 'active', 'paused'], words: german, told: 'Status: Aktiv → Angehalten' },
  { change: ['status', 'active', 'blocked'], words: english, told: 'Status: Active → Blocked' },
  {
    change: ['week_start', 'mon', 'sun'],
    words: english,
    told: 'First day of the week: Monday → Sunday',
  },
  {
    change: ['description', null, 'the new one'],
    words: english,
    told: 'Description: the new one',
  },
  {
    change: ['description', 'the old one', null],
    words: english,
    told: 'Description: the old one → none',
  },
  { change: ['enabled', true, false], words: english, told: 'Enabled: yes → no' },
  {
    change: ['permissions', ['chat'], ['chat', 'models']],
    words: english,
    told: 'Permissions: +List models',
  },
  {
    change: ['permissions', ['usage:read'], []],
    words: german,
    told: 'Berechtigungen: −Nutzung lesen',
  },
  { change: ['alert_thresholds', [50], [80]], words: english, told: 'Alerts: +80%, −50%' },
  {
    change: ['window', '5/day', '7.5/week'],
    words: english,
    told: 'Second window: $5.00 a day → $7.50 a week',
  },
  {
    change: ['window', null, { budget: '5', period: 'day' }],
    words: german,
    told: 'Zweites Fenster: 5,00 $ am Tag',
  },
  {
    change: ['model_budgets', ['gpt-5=20/month'], ['gpt-5=30/month']],
    words: english,
    told: 'Budgets for models: +gpt-5: $30.00 a month, −gpt-5: $20.00 a month',
  },
  {
    change: ['request_cost_max', '0.5', null],
    words: english,
    told: 'Cost of one request, at most: $0.50 → no limit',
  },
  {
    change: ['key_rules.self_service', false, true],
    words: english,
    told: 'Members may create keys: no → yes',
  },
  {
    change: ['dev@example.com', 'Manager', 'Member'],
    words: german,
    told: 'dev@example.com: Manager → Mitglied',
  },
  { change: ['role', 'Auditor', 'Viewer'], words: german, told: 'Rolle: Auditor → Betrachter' },
  { change: ['made_up', 'a', 'b'], words: english, told: 'made_up: a → b' },
] as const)
  test(told, () => {
    const [field, before, after] = change
    const line = recordedLine({ field, before, after }, words)
    const values = [line.before, line.after].filter((each) => each !== '').join(' → ')
    assert.equal(`${line.label}: ${values}`.replaceAll('\u00a0', ' '), told)
  })
