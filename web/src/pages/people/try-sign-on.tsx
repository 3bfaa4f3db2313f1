// What the groups of somebody at the single sign-on provider would give them here, tried with claims as it sends them.
import { Button, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { peopleRoutes, type SignOnTrial } from '../../../../src/admin/contract/people.ts'
import { call } from '../../base/api.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import { FactList, type Facts } from '../../parts/cells.tsx'
import { BusyButton, useChange } from '../../parts/changes.tsx'
import { Dialog } from '../../parts/dialogs.tsx'
import { ErrorAlert, Notice } from '../../parts/notices.tsx'

const example = '{\n  "groups": ["eng-search"]\n}'

export function TrySignOnDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const [text, setText] = useState(example)
  const claims = readClaims(text)
  const attempt = useChange([], {
    change: async () => call(peopleRoutes.trySignOn, { body: { claims: claims ?? {} } }),
  })
  return (
    <Dialog
      title={t('trySignOn.title')}
      onClose={onClose}
      buttons={
        <>
          <Button variant="default" onClick={onClose}>
            {t('dialog.close')}
          </Button>
          <BusyButton
            isBusy={attempt.isPending}
            disabled={claims === undefined}
            onClick={() => attempt.mutate()}
          >
            {t('trySignOn.action')}
          </BusyButton>
        </>
      }
    >
      <p>{t('trySignOn.about')}</p>
      <Textarea
        label={t('trySignOn.claims')}
        error={claims === undefined && t('trySignOn.notJson')}
        autosize
        minRows={4}
        maxRows={12}
        spellCheck={false}
        data-autofocus
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div aria-live="polite">
        {attempt.data && <Outcome trial={attempt.data} />}
        {attempt.error && <ErrorAlert title={t('trySignOn.failed')} error={attempt.error} />}
      </div>
    </Dialog>
  )
}

/** Undefined unless it is a JSON object. */
function readClaims(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? { ...value }
      : undefined
  } catch {
    return undefined
  }
}

function Outcome({ trial }: { readonly trial: SignOnTrial }) {
  const { t, format } = useTranslation()
  const roleName = useRoleName()
  const { admitted, role, groups, unmatched, unknown } = trial
  const facts: Facts = [
    [t('trySignOn.everywhere'), role ? roleName(role) : t('changes.nothing')],
    ...groups.map((each) => [each.group.name, roleName(each.role)] as const),
  ]
  return (
    <Stack gap="sm">
      <Notice tone={admitted ? 'good' : 'warn'}>
        {t(admitted ? 'trySignOn.admitted' : 'trySignOn.notAdmitted')}
      </Notice>
      <FactList facts={facts} />
      {unmatched.length > 0 && (
        <p className="muted break">
          {t('trySignOn.unmatched', { values: format.list(unmatched) })}
        </p>
      )}
      {unknown.length > 0 && (
        <Notice tone="bad">{t('trySignOn.unknown', { names: format.list(unknown) })}</Notice>
      )}
    </Stack>
  )
}
