// Chooses the models of a key or a group: on the left all models with prices, by provider; on the right the chosen ones. An
// empty choice allows nothing, and there is no "all models".
import { ActionIcon, Button, Checkbox, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react'
import type { ModelAnswer } from '../../../../src/admin/contract/gateway.ts'
import { ABILITIES } from '../../../../src/core/endpoints.ts'
import { KINDS } from '../../base/address.ts'
import { keyQuery, modelsQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Choice, KeySelect } from '../filters.tsx'
import { CrossIcon, SearchIcon } from '../icons.tsx'
import { Loading, QueryError } from '../notices.tsx'
import form from './form.module.css'
import { groupedByProvider, matchingModels, noFilter, readPastedModels } from './model-choice.ts'
import type { ModelFilter, ModelGroup } from './model-choice.ts'
import styles from './model-picker.module.css'
import { useOneStop } from './one-stop.ts'

type ModelPickerProps = {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
  readonly error?: ReactNode
  /** What it means if nothing is chosen. */
  readonly nothing: string
}

export function ModelPicker({ chosen, onChange, error, nothing }: ModelPickerProps) {
  const { t } = useTranslation()
  const models = useQuery(modelsQuery)
  const [filter, setFilter] = useState(noFilter)
  const all = useMemo(() => models.data ?? [], [models.data])
  const matching = useMemo(() => matchingModels(all, filter), [all, filter])
  const add = (ids: readonly string[]) => onChange([...new Set([...chosen, ...ids])])
  const set = (ids: readonly string[], isChosen: boolean) =>
    isChosen ? add(ids) : onChange(chosen.filter((id) => !ids.includes(id)))
  const addMatching = () => add(matching.map(({ id }) => id))
  const boxes = useOneStop<HTMLDivElement>('input[type=checkbox]')
  if (models.error) return <QueryError title={t('picker.failed')} query={models} />
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
            {...boxes}
            className={styles['list']}
            role="group"
            aria-label={t('picker.all')}
            onKeyDown={(event) => {
              boxes.onKeyDown(event)
              if (isChoosingAll(event)) addMatching()
            }}
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
        <ChosenModels
          chosen={chosen}
          all={all}
          nothing={nothing}
          onRemove={(id) => set([id], false)}
        />
      </div>
      {error !== undefined && <p className={styles['error']}>{error}</p>}
      <div className={styles['more']}>
        <PasteModels all={all} onAdd={add} />
        <CopyFromKey onAdd={add} />
      </div>
    </>
  )
}

/** Ctrl+A, which would otherwise select the text of the page. */
function isChoosingAll(event: KeyboardEvent): boolean {
  const isAll = event.key === 'a' && (event.ctrlKey || event.metaKey)
  if (isAll) event.preventDefault()
  return isAll
}

type FiltersProps = {
  readonly filter: ModelFilter
  readonly onChange: (filter: ModelFilter) => void
}

function Filters({ filter, onChange }: FiltersProps) {
  const { t } = useTranslation()
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
      <Choice
        label={t('picker.kind')}
        value={filter.kind}
        values={KINDS}
        wordOf={(kind) => t(`modelKind.${kind}`)}
        onChoose={(kind) => onChange({ ...filter, kind })}
      />
      <Choice
        label={t('picker.ability')}
        value={filter.ability}
        values={ABILITIES}
        wordOf={(ability) => t(`ability.${ability}`)}
        onChoose={(ability) => onChange({ ...filter, ability })}
      />
    </div>
  )
}

type ChosenModelsProps = {
  readonly chosen: readonly string[]
  readonly all: readonly ModelAnswer[]
  readonly nothing: string
  readonly onRemove: (id: string) => void
}

/** The chosen models, each with a button to remove it. A model that left the catalogue stays, marked as gone. */
function ChosenModels({ chosen, all, nothing, onRemove }: ChosenModelsProps) {
  const { t } = useTranslation()
  const available = new Set(all.filter((model) => model.available).map(({ id }) => id))
  const buttons = useOneStop<HTMLUListElement>('button')
  return (
    <div className={styles['pane']}>
      <div className={styles['paneHead']}>
        <span role="status">{t('picker.chosen', { count: chosen.length })}</span>
      </div>
      <div className={styles['list']}>
        {chosen.length === 0 && <p className="muted">{nothing}</p>}
        <ul {...buttons} className={styles['chosen']} aria-label={t('picker.chosenLabel')}>
          {chosen.toSorted().map((id) => (
            <li key={id}>
              <span>
                {id}
                {all.length > 0 && !available.has(id) && (
                  <span className={styles['price']}> · {t('picker.unavailable')}</span>
                )}
              </span>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={t('picker.remove', { model: id })}
                onClick={() => onRemove(id)}
              >
                <CrossIcon size={12} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

type ModelGroupFieldsProps = {
  readonly group: ModelGroup
  readonly chosen: readonly string[]
  readonly onSet: (ids: readonly string[], isChosen: boolean) => void
}

/** The models of one provider as a group of checkboxes; the provider's own is checked, unchecked or indeterminate. */
function ModelGroupFields({ group, chosen, onSet }: ModelGroupFieldsProps) {
  const { t } = useTranslation()
  const ids = group.models.map(({ id }) => id)
  const count = ids.filter((id) => chosen.includes(id)).length
  return (
    <fieldset className={styles['group']}>
      <legend>
        <Checkbox
          label={t('picker.group', {
            name: group.provider ?? t('picker.withoutProvider'),
            count,
            of: ids.length,
          })}
          checked={count === ids.length}
          indeterminate={count > 0 && count < ids.length}
          onChange={({ currentTarget }) => onSet(ids, currentTarget.checked)}
        />
      </legend>
      <ul className={styles['models']}>
        {group.models.map((model) => (
          <li key={model.id} className={styles['model']}>
            <Checkbox
              label={model.id}
              checked={chosen.includes(model.id)}
              onChange={({ currentTarget }) => onSet([model.id], currentTarget.checked)}
            />
            <span className={styles['price']}>
              <PriceWords model={model} />
            </span>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}

/** Prices per million tokens, input and output. */
function PriceWords({ model }: { readonly model: ModelAnswer }) {
  const { t, format } = useTranslation()
  if (!model.available) return <>{t('picker.unavailable')}</>
  if (model.price === null) return <>{t('picker.noPrice')}</>
  const { input, output } = model.price
  return (
    <span title={t('picker.perMillion')}>
      {model.kind === 'embedding'
        ? format.money(input)
        : t('picker.price', { input: format.money(input), output: format.money(output) })}
    </span>
  )
}

type PasteModelsProps = {
  readonly all: readonly ModelAnswer[]
  readonly onAdd: (ids: readonly string[]) => void
}

/** Adds a pasted list of model names, and reports those that do not exist here. */
function PasteModels({ all, onAdd }: PasteModelsProps) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const { found, unknown } = readPastedModels(text, new Set(all.map(({ id }) => id)))
  return (
    <details className={form['more']}>
      <summary>{t('picker.paste')}</summary>
      <Stack gap="xs">
        <Textarea
          label={t('picker.pasteLabel')}
          description={t('picker.pasteHint')}
          autosize
          minRows={2}
          maxRows={8}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          error={
            unknown.length > 0 &&
            t('picker.unknown', { count: unknown.length, names: unknown.join(', ') })
          }
        />
        <Button
          variant="default"
          disabled={found.length === 0}
          onClick={() => {
            onAdd(found)
            setText(unknown.join('\n'))
          }}
        >
          {t('picker.pasteAdd', { count: found.length })}
        </Button>
      </Stack>
    </details>
  )
}

/** Copies the models of another key. */
function CopyFromKey({ onAdd }: { readonly onAdd: (ids: readonly string[]) => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const take = useMutation({
    mutationFn: (id: string) => client.fetchQuery(keyQuery(id)),
    onSuccess: ({ models }) => onAdd(models),
  })
  return (
    <details className={form['more']} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('picker.copyFrom')}</summary>
      {isOpen && (
        <KeySelect
          label={t('picker.copyFromLabel')}
          placeholder=""
          value={undefined}
          error={take.isError ? t('detail.failed') : undefined}
          onChange={(id) => id && take.mutate(id)}
        />
      )}
    </details>
  )
}
