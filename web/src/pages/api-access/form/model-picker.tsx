// Chooses the models of a key: on the left all models with prices, by provider; on the right the chosen ones. An empty
// choice allows nothing, and there is no "all models".
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { ABILITIES } from '../../../../../src/core/endpoints.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ErrorAlert } from '../../../parts/error-alert.tsx'
import { SearchIcon } from '../../../parts/icons.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { modelsQuery } from '../../../queries.ts'
import { ChosenModels } from './chosen-models.tsx'
import { CopyFromKey } from './copy-from-key.tsx'
import { groupedByProvider, matchingModels, noFilter } from './model-choice.ts'
import type { ModelFilter } from './model-choice.ts'
import { ModelGroupFields } from './model-group-fields.tsx'
import { PasteModels } from './paste-models.tsx'
import styles from './model-picker.module.css'

type ModelPickerProps = {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
  readonly error?: ReactNode
}

export function ModelPicker({ chosen, onChange, error }: ModelPickerProps) {
  const { t } = useTranslation()
  const models = useQuery(modelsQuery)
  const [filter, setFilter] = useState(noFilter)
  const all = useMemo(() => models.data ?? [], [models.data])
  const matching = useMemo(() => matchingModels(all, filter), [all, filter])
  const add = (ids: readonly string[]) => onChange([...new Set([...chosen, ...ids])])
  const set = (ids: readonly string[], isChosen: boolean) =>
    isChosen ? add(ids) : onChange(chosen.filter((id) => !ids.includes(id)))
  const addMatching = () => add(matching.map(({ id }) => id))
  if (models.error)
    return (
      <ErrorAlert
        title={t('picker.failed')}
        error={models.error}
        onRetry={() => void models.refetch()}
      />
    )
  return (
    <>
      <Filters filter={filter} onChange={setFilter} />
      <div className={styles['picker']}>
        <div className={styles['pane']} data-invalid={error !== undefined}>
          <div className={styles['paneHead']}>
            <span role="status">{t('picker.matching', { count: matching.length })}</span>
            {matching.length > 0 && (
              <Button size="compact-xs" variant="subtle" onClick={addMatching}>
                {t('picker.chooseMatching', { count: matching.length })}
              </Button>
            )}
          </div>
          <div
            className={styles['list']}
            role="group"
            aria-label={t('picker.all')}
            onKeyDown={(event) => moveByKeys(event, addMatching)}
          >
            {models.isPending && <Loading lines={6} />}
            {matching.length > 0 && <p className={styles['unit']}>{t('picker.perMillion')}</p>}
            {models.data && matching.length === 0 && (
              <p className="muted">{t('picker.noMatch', { count: all.length })}</p>
            )}
            {groupedByProvider(matching).map((group) => (
              <ModelGroupFields key={group.provider} group={group} chosen={chosen} onSet={set} />
            ))}
          </div>
        </div>
        <ChosenModels chosen={chosen} all={all} onRemove={(id) => set([id], false)} />
      </div>
      {error !== undefined && <p className={styles['error']}>{error}</p>}
      <div className={styles['more']}>
        <PasteModels all={all} onAdd={add} />
        <CopyFromKey onAdd={add} />
      </div>
    </>
  )
}

/** The up and down arrows move between the checkboxes; Ctrl+A chooses every match. */
function moveByKeys(event: KeyboardEvent<HTMLElement>, onChooseAll: () => void): void {
  if (event.key === 'a' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    onChooseAll()
    return
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const boxes = [...event.currentTarget.querySelectorAll<HTMLElement>('input[type=checkbox]')]
  const next = boxes[boxes.findIndex((box) => box === document.activeElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}

type FiltersProps = {
  readonly filter: ModelFilter
  readonly onChange: (filter: ModelFilter) => void
}

function Filters({ filter, onChange }: FiltersProps) {
  const { t } = useTranslation()
  const kinds = ['chat', 'embedding'] as const
  return (
    <div className={styles['filters']}>
      <TextInput
        type="search"
        label={t('picker.search')}
        leftSection={<SearchIcon />}
        value={filter.text}
        onChange={({ currentTarget }) => onChange({ ...filter, text: currentTarget.value })}
        // Enter would submit the form.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <NativeSelect
        label={t('picker.kind')}
        value={filter.kind}
        onChange={({ currentTarget }) => {
          const kind = kinds.find((each) => each === currentTarget.value) ?? ''
          onChange({ ...filter, kind })
        }}
        data={[
          { value: '', label: t('filter.any') },
          ...kinds.map((value) => ({ value, label: t(`modelKind.${value}`) })),
        ]}
      />
      <NativeSelect
        label={t('picker.ability')}
        value={filter.ability}
        onChange={({ currentTarget }) => {
          const ability = ABILITIES.find((each) => each === currentTarget.value) ?? ''
          onChange({ ...filter, ability })
        }}
        data={[
          { value: '', label: t('filter.any') },
          ...ABILITIES.map((value) => ({ value, label: t(`ability.${value}`) })),
        ]}
      />
    </div>
  )
}
