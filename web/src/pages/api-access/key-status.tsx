// The state of a key as a badge: icon and word, with the reason and the next step in a tooltip.
import type { ComponentType } from 'react'
import type { KeyState } from '../../../../src/admin/contract/key.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import {
  BanIcon,
  CheckIcon,
  ClockIcon,
  GaugeIcon,
  PauseIcon,
  RotateIcon,
  WarningIcon,
} from '../../parts/icons.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import type { Tone } from '../../parts/status-badge.tsx'
import type { KeyInBrief } from './key-in-brief.ts'

type KeyStatusProps = {
  readonly keyInBrief: KeyInBrief
  /** The gateway would refuse a call now, whatever the key's own state says. */
  readonly isRefusing?: boolean
}

type Shown = KeyState | 'refusing'

type Look = { readonly tone: Tone; readonly icon: ComponentType<{ readonly size?: number }> }

const looks: Readonly<Record<Shown, Look>> = {
  revoked: { tone: 'bad', icon: BanIcon },
  expired: { tone: 'bad', icon: ClockIcon },
  paused: { tone: 'neutral', icon: PauseIcon },
  frame_exhausted: { tone: 'bad', icon: WarningIcon },
  budget_exhausted: { tone: 'bad', icon: WarningIcon },
  rotating: { tone: 'warn', icon: RotateIcon },
  expires_soon: { tone: 'warn', icon: ClockIcon },
  budget_high: { tone: 'warn', icon: GaugeIcon },
  active: { tone: 'good', icon: CheckIcon },
  refusing: { tone: 'bad', icon: BanIcon },
}

/** States that do not by themselves decide whether calls pass. */
const open: readonly KeyState[] = ['rotating', 'expires_soon', 'budget_high', 'active']

export function KeyStatus({ keyInBrief, isRefusing = false }: KeyStatusProps) {
  const { expires_at: expiresAt, resets_at: resetsAt, old_secret: oldSecret } = keyInBrief
  const { t } = useTranslation()
  const format = useFormat()
  const state = isRefusing && open.includes(keyInBrief.state) ? 'refusing' : keyInBrief.state
  const { tone, icon: Icon } = looks[state]
  const moments: Readonly<Record<Shown, string | null>> = {
    revoked: null,
    expired: expiresAt,
    paused: null,
    frame_exhausted: resetsAt,
    budget_exhausted: resetsAt,
    rotating: oldSecret?.valid_until ?? null,
    expires_soon: expiresAt,
    budget_high: resetsAt,
    active: null,
    refusing: null,
  }
  const moment = moments[state]
  return (
    <StatusBadge
      tone={tone}
      icon={<Icon size={13} />}
      word={t(`keyState.${state}.word`)}
      explanation={t(`keyState.${state}.why`, {
        moment: moment === null ? t('keyState.noMoment') : format.exactTime(moment),
      })}
    />
  )
}
