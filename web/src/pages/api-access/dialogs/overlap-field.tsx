// How long the old secret keeps working: a preset, or a custom time of at most seven days.
import { Group, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { OVERLAP_MS_MAX } from '../../../../../src/core/limits.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'

const offered = ['0', '900', '3600', '86400', '604800', 'own'] as const
const units = { minutes: 60, hours: 3_600, days: 86_400 } as const
type Unit = keyof typeof units
const unitNames = Object.keys(units) as Unit[]

type OverlapFieldProps = {
  /** In seconds, one of the presets. */
  readonly usual: number
  /** In seconds; undefined if the input is invalid. */
  readonly onChange: (seconds: number | undefined) => void
}

export function OverlapField({ usual, onChange }: OverlapFieldProps) {
  const { t } = useTranslation()
  const [choice, setChoice] = useState(String(usual))
  const [typed, setTyped] = useState('')
  const [unit, setUnit] = useState<Unit>('hours')
  const change = (next: { choice?: string; typed?: string; unit?: Unit }) => {
    const all = { choice, typed, unit, ...next }
    setChoice(all.choice)
    setTyped(all.typed)
    setUnit(all.unit)
    onChange(all.choice === 'own' ? secondsOf(all.typed, all.unit) : Number(all.choice))
  }
  const isWrong = typed !== '' && secondsOf(typed, unit) === undefined
  return (
    <>
      <NativeSelect
        label={t('rotate.overlap')}
        data-autofocus
        value={choice}
        onChange={({ currentTarget }) => change({ choice: currentTarget.value })}
        data={offered.map((value) => ({ value, label: t(`rotate.seconds.${value}`) }))}
      />
      {choice === 'own' && (
        <Group align="flex-start" grow>
          <TextInput
            label={t('rotate.own')}
            inputMode="numeric"
            required
            autoComplete="off"
            value={typed}
            error={isWrong && t('rotate.ownProblem')}
            onChange={({ currentTarget }) => change({ typed: currentTarget.value })}
          />
          <NativeSelect
            label={t('rotate.unit')}
            value={unit}
            onChange={({ currentTarget }) =>
              change({ unit: unitNames.find((name) => name === currentTarget.value) ?? unit })
            }
            data={unitNames.map((value) => ({ value, label: t(`rotate.units.${value}`) }))}
          />
        </Group>
      )}
    </>
  )
}

/** Whole numbers only: half an hour is thirty minutes. */
function secondsOf(typed: string, unit: Unit): number | undefined {
  const text = typed.trim()
  const seconds = Number(text) * units[unit]
  return /^[1-9]\d*$/.test(text) && seconds * 1_000 <= OVERLAP_MS_MAX ? seconds : undefined
}
