// The groups that the reader belongs to: the role there, what is left of the budget, and what the rules allow keys of
// members.
import type { OwnGroup } from '../../../../src/admin/contract/people.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import cards from '../../parts/card-list.module.css'

export function GroupRules({ groups }: { readonly groups: readonly OwnGroup[] }) {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const wordsOf = useRuleWords()
  return (
    <section className="card" aria-labelledby="own-groups">
      <h2 id="own-groups" className={cards['title']}>
        {t('myKeys.groups')}
      </h2>
      <ul className={cards['list']}>
        {groups.map((group) => (
          <li key={group.id}>
            <strong className="break">{group.name}</strong>{' '}
            <span className="muted">{roleName(group.role)}</span>
            <div className="sub">{wordsOf(group).join(' · ')}</div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What holds for keys of one's own in a group, in a few words each. */
export function useRuleWords(): (group: OwnGroup) => readonly string[] {
  const { t, format } = useTranslation()
  return ({ remaining, key_rules: rules, own_keys: count, may_create_keys: isOpen, status }) => {
    const left =
      remaining === null
        ? t('myKeys.unlimited')
        : t('myKeys.left', { left: format.moneyLeft(remaining) })
    if (status === 'archived') return [t('group.archived')]
    if (!isOpen) return [left, t('myKeys.noSelfService')]
    if (rules === null) return [left]
    const { budget_max: most, days_max: days, keys_max: keysMax } = rules
    return [
      left,
      keysMax !== null && t('myKeys.keysOf', { count: keysMax, own: format.number(count) }),
      most !== null &&
        t('myKeys.budgetMax', {
          amount: format.money(most.budget),
          period: t(`periodShort.${most.period}`),
        }),
      days !== null && t('myKeys.daysMax', { count: days }),
    ].filter((words) => words !== false)
  }
}
