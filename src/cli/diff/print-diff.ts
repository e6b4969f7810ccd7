/** A preview as text, JSON, or markdown for a pull request. */
import { nameSome, plural } from '../../core/text/name-some.ts'
import { bytesText } from '../print/format-bytes.ts'
import { humanAge, parseTime } from '../../core/time/time.ts'
import type { DiffGroup, Effect, ObjectDiff } from '../../plan/fleet/fleet-diff.ts'
import { formatFieldChange } from '../../plan/objects/object-changes.ts'
import { isDifference } from './preview.ts'
import type { BundlePreview, RulePreview } from './preview.ts'

/** Output formats. */
export type DiffFormat = 'text' | 'json' | 'markdown'

/** What printing needs besides the preview. */
export interface DiffPrinting {
  readonly format: DiffFormat
  /** A line per group. */
  readonly summary: boolean
  readonly from: string
  readonly to: string
  readonly now: number
  /** Notes about the comparison. */
  readonly notes: readonly string[]
  /** The command that reproduces a failing render. */
  readonly renderCommand: (bundle: string, cluster: string) => string
}

/** Prints a preview. */
export function printDiff(bundles: readonly BundlePreview[], printing: DiffPrinting): string {
  switch (printing.format) {
    case 'text':
      return text(bundles, printing)
    case 'json':
      return `${JSON.stringify(asJson(bundles, printing), undefined, 2)}\n`
    case 'markdown':
      return markdown(bundles, printing)
  }
}

const IN_CLUSTER = 'rendered in the cluster: compared is what it is made of, the objects are known there alone'

const LABELS: Readonly<Record<Effect, string>> = {
  changed: 'change',
  gained: 'gained',
  lost: 'lost',
  skipped: 'left out',
  mended: 'renders again',
  'cannot-render': 'cannot render',
  same: 'unchanged',
}

function labelOf({ effect, reverts, isOld }: DiffGroup): string {
  if (reverts) return 'would REVERT drift'
  return isOld ? 'cannot render (as before)' : LABELS[effect]
}

function text(bundles: readonly BundlePreview[], printing: DiffPrinting): string {
  const blocks = bundles.map((bundle) => {
    const lines = [titleOf(bundle, printing)]
    if (bundle.unknown !== undefined) lines.push(`  not compared: ${bundle.unknown}`)
    if (bundle.inCluster) lines.push(`  ${IN_CLUSTER}`)
    lines.push(...heldBackWords(bundle).map((words) => `  ${words}`))
    const width = Math.max(...bundle.groups.map(({ clusters }) => String(clusters.length).length), 4)
    const labels = Math.max(...bundle.groups.map((group) => labelOf(group).length), 0)
    const first = bundle.groups.find(({ effect }) => effect === 'changed')
    for (const group of bundle.groups) {
      const head = `  ${String(group.clusters.length).padStart(width)}  ${labelOf(group).padEnd(labels)}`
      lines.push(`${head}  ${groupWords(group, first, { ...printing, bundle: bundle.bundle })}`.trimEnd())
      if (!printing.summary && isDifference(group)) lines.push(...detailLines(group, '      '))
    }
    lines.push(...ruleWords(bundle))
    const sizes = sizesOf(bundle)
    if (sizes !== '') lines.push(`sizes: ${sizes}`)
    return `${lines.join('\n')}\n`
  })
  const notes = printing.notes.map((note) => `note: ${note}\n`)
  return [...(blocks.length === 0 ? ['no differences\n'] : blocks), ...notes].join('')
}

/** What the change does with content that was rolled back. */
function heldBackWords({ bundle, heldBack }: BundlePreview): string[] {
  if (!heldBack) return []
  const { release, by, reason, heldClusters, bringsBack } = heldBack
  const words = `${release}, rolled back by ${by}${reason === undefined ? '' : `: ${reason}`}`
  const lift = `flotilla release lift ${release} -n ${bundle.split('/')[0]}`
  return [
    ...(heldClusters.length > 0
      ? [
          `held back on ${plural(heldClusters.length, 'cluster')}: the content is that of ${words}; the hub does not deliver it again until it changes, or: ${lift}`,
        ]
      : []),
    ...(bringsBack.length > 0 ? [`this brings back ${words} (${joined(bringsBack)})`] : []),
  ]
}

/** What rules on rendered content find, those that deny first. */
function ruleWords({ rules = [] }: BundlePreview): string[] {
  const word = ({ action, exception }: RulePreview): string =>
    exception === undefined ? { Deny: 'denied', Warn: 'warning', Audit: 'audit' }[action] : 'excepted'
  const order = ['denied', 'warning', 'audit', 'excepted']
  return rules
    .toSorted((a, b) => order.indexOf(word(a)) - order.indexOf(word(b)))
    .map((one) => `${word(one)}: ${one.message}  (${nameSome(one.clusters, 2)})`)
}

function titleOf({ bundle, isNew, selected, gained, lost, ...own }: BundlePreview, printing: DiffPrinting): string {
  const { to } = printing
  const from = own.from === undefined ? printing.from : `release ${own.from}`
  const clusters = plural(selected.after, 'cluster')
  return `bundle ${bundle}${isNew ? ' (new)' : ''}  ${from} → ${to}     ${clusters} selected (+${gained.length} gained, -${lost.length} lost)`
}

interface GroupScene extends Pick<DiffPrinting, 'now' | 'renderCommand'> {
  readonly bundle: string
}

/** The changes of a group in one line. Changes of the largest group are not repeated. */
function groupWords(group: DiffGroup, first: DiffGroup | undefined, scene: GroupScene): string {
  const { effect, objects, clusters, reverts, reason = '' } = group
  const names = nameSome(clusters, 2)
  const on = `  (${names})`
  switch (effect) {
    case 'same':
      return ''
    case 'cannot-render':
      return `${names}: ${reason}  → ${scene.renderCommand(scene.bundle, clusters[0] ?? '')}`
    case 'gained':
    case 'mended':
      return `${plural(objects.length, 'object')}${on}`
    case 'lost':
      return `${plural(objects.length, 'object is', 'objects are')} removed${on}`
    case 'skipped':
      return `excluded by ${reason}: ${plural(objects.length, 'object is', 'objects are')} removed${on}`
    case 'changed': {
      if (reverts) return `${revertWords(reverts, scene.now)}${on}`
      const words = changedWords(group)
      const shared = new Set(first === undefined || first === group ? [] : changedWords(first))
      const isMore = shared.size > 0 && [...shared].every((word) => words.includes(word))
      const own = isMore ? ['same', ...words.filter((word) => !shared.has(word)).map((word) => `+ ${word}`)] : words
      return `${joined(own)}${on}`
    }
  }
}

function joined(words: readonly string[], most = 4): string {
  const more = words.length > most ? `; ${words.length - most} more` : ''
  return `${words.slice(0, most).join('; ')}${more}`
}

function revertWords(reverts: NonNullable<DiffGroup['reverts']>, now: number): string {
  return joined(
    reverts.map(({ object, fields, since }) => {
      const at = parseTime(since)
      const age = at === undefined ? '' : ` (drifted ${humanAge(now - at)} ago)`
      return `${object} ${fields[0] ?? ''}${fields.length > 1 ? ` and ${fields.length - 1} more` : ''}${age}`
    }),
    2,
  )
}

function changedWords({ objects, options }: DiffGroup): string[] {
  return [...objectWords(objects), ...(options ? [`applied with ${formatFieldChange(options).join(', ')}`] : [])]
}

function objectWords(objects: readonly ObjectDiff[]): string[] {
  return objects.map(({ object, change, fields }) => {
    if (change === 'added') return `+${object}`
    if (change === 'removed') return `-${object}`
    const words = formatFieldChange(fields)
    const more = words.length > 4 ? `, ${words.length - 4} more` : ''
    return `${object}: ${words.slice(0, 4).join(', ')}${more}`
  })
}

function detailLines(group: DiffGroup, indent: string): string[] {
  const marks = { added: '+', removed: '-', changed: '~' } as const
  const lines = group.objects.flatMap(({ object, change, fields }) => [
    `${indent}${marks[change]} ${object}`,
    ...fields.map((field) => `${indent}    ${fieldLine(field)}`),
  ])
  if (group.options) {
    lines.push(`${indent}~ apply options`, ...group.options.map((field) => `${indent}    ${fieldLine(field)}`))
  }
  const drift = (group.reverts ?? []).flatMap(({ object, fields }) =>
    fields.map((field) => `${indent}! ${object} ${field} is reverted to the content of the Bundle`),
  )
  const clusters = `${indent}on ${nameSome(group.clusters, 20)}`
  return [clusters, ...lines, ...drift]
}

function fieldLine({ field, before, after, hidden }: ObjectDiff['fields'][number]): string {
  if (hidden)
    return `${field}: ${before === undefined ? 'new' : after === undefined ? 'removed' : 'changed'} (value not shown)`
  if (before === undefined && after === undefined) return field
  if (before === undefined) return `${field}: + ${after}`
  return after === undefined ? `${field}: - ${before}` : `${field}: ${before} → ${after}`
}

function sizesOf({ groups }: BundlePreview): string {
  const moving = groups.filter(({ bytes }) => bytes > 0)
  if (moving.length === 0) return ''
  const total = moving.reduce((sum, { bytes, clusters }) => sum + bytes * clusters.length, 0)
  const most = Math.max(...moving.map(({ bytes }) => bytes))
  return `up to ${bytesText(most)} of objects per cluster, ${bytesText(total)} in all (compressed, as differences)`
}

/** The number of groups of each kind. */
function totalsOf(bundles: readonly BundlePreview[]) {
  const groups = bundles.flatMap((bundle) => bundle.groups)
  const clustersWith = (wanted: (group: DiffGroup) => boolean) =>
    new Set(groups.filter(wanted).flatMap(({ clusters }) => clusters)).size
  return {
    bundles: bundles.length,
    clusters: clustersWith(isDifference),
    gained: clustersWith(({ effect }) => effect === 'gained'),
    lost: clustersWith(({ effect }) => effect === 'lost' || effect === 'skipped'),
    revertsDrift: clustersWith(({ reverts }) => reverts !== undefined),
    denied: new Set(bundles.flatMap((bundle) => denialsIn(bundle).flatMap(({ clusters }) => clusters))).size,
    cannotRender: clustersWith((group) => group.effect === 'cannot-render' && isDifference(group)),
  }
}

function denialsIn({ rules = [] }: BundlePreview): RulePreview[] {
  return rules.filter(({ action, exception }) => action === 'Deny' && exception === undefined)
}

function asJson(bundles: readonly BundlePreview[], { from, to, notes }: DiffPrinting): unknown {
  return { from, to, totals: totalsOf(bundles), notes, bundles }
}

const MOST_DETAILS = 40
// Comments of pull requests end at 65,536 characters.
const MOST_CHARACTERS = 60_000

/** Markdown with the totals in a comment for programs. */
function markdown(bundles: readonly BundlePreview[], printing: DiffPrinting): string {
  const totals = totalsOf(bundles)
  return `${visibleMarkdown(bundles, printing, totals)}<!-- totals ${JSON.stringify(totals)} -->\n`
}

function visibleMarkdown(
  bundles: readonly BundlePreview[],
  printing: DiffPrinting,
  totals: ReturnType<typeof totalsOf>,
): string {
  if (bundles.length === 0)
    return `### flotilla diff: no differences\n\n${printing.from} → ${printing.to}\n${notesText(printing)}`
  const title = `### flotilla diff: ${plural(totals.bundles, 'bundle')} on ${plural(totals.clusters, 'cluster')}\n`
  const warnings = [
    ...(totals.cannotRender > 0 ? [`**${plural(totals.cannotRender, 'cluster')} cannot be rendered.**`] : []),
    ...(totals.denied > 0 ? [`**Rules deny the content of ${plural(totals.denied, 'cluster')}.**`] : []),
    ...(totals.revertsDrift > 0 ? [`**Drift would be reverted on ${plural(totals.revertsDrift, 'cluster')}.**`] : []),
    ...(totals.lost > 0 ? [`**Objects would be removed from ${plural(totals.lost, 'cluster')}.**`] : []),
  ]
  const head = [
    title,
    `${printing.from} → ${printing.to}\n`,
    ...(warnings.length > 0 ? [`${warnings.join(' ')}\n`] : []),
  ]
  const full = [...head, ...bundles.map((one) => bundleMarkdown(one, printing)), notesText(printing)].join('\n')
  if (full.length <= MOST_CHARACTERS) return full
  const short = bundles.map((one) => bundleMarkdown(one, { ...printing, summary: true })).join('\n')
  const cut =
    short.length > MOST_CHARACTERS ? `${short.slice(0, short.lastIndexOf('\n', MOST_CHARACTERS))}\n\n…and more` : short
  return [
    ...head,
    cut,
    '\nDetails are omitted because the comment is too long. Run `flotilla diff` to see them.\n',
  ].join('\n')
}

function notesText({ notes }: DiffPrinting): string {
  return notes.map((note) => `\n> ${inline(note)}\n`).join('')
}

function bundleMarkdown(bundle: BundlePreview, printing: DiffPrinting): string {
  const { groups, gained, lost, selected, unknown } = bundle
  const first = groups.find(({ effect }) => effect === 'changed')
  const title = `#### ${inline(bundle.bundle)}${bundle.isNew ? ' (new)' : ''}: ${plural(selected.after, 'cluster')} selected (+${gained.length}, -${lost.length})\n`
  if (unknown !== undefined) return `${title}\nNot compared: ${inline(unknown)}\n`
  const from = bundle.from === undefined ? '' : `\nCompared with release ${inline(bundle.from)}.\n`
  const held = [...heldBackWords(bundle), ...ruleWords(bundle)].map((words) => `\n**${inline(words)}**\n`)
  const where = `${bundle.inCluster ? `\n${IN_CLUSTER}\n` : ''}${from}${held.join('')}`
  const rows = groups.map(
    (group) =>
      `| ${group.clusters.length} | ${labelOf(group)} | ${inline(groupWords(group, first, { ...printing, bundle: bundle.bundle }))} |`,
  )
  const details = groups
    .filter(isDifference)
    .flatMap((group) => [
      `${plural(group.clusters.length, 'cluster')}, ${labelOf(group)}:`,
      ...detailLines(group, '').slice(0, MOST_DETAILS),
      '',
    ])
  const sizes = sizesOf(bundle)
  return [
    `${title}${where}`,
    '| clusters | | what |',
    '|---:|---|---|',
    ...rows,
    ...(sizes === '' ? [] : ['', inline(sizes)]),
    ...(printing.summary
      ? []
      : ['', '<details><summary>Fields</summary>', '', fenced(details.join('\n').trimEnd()), '', '</details>']),
    '',
  ].join('\n')
}

/** Escapes text for a table cell. */
function inline(words: string): string {
  return words
    .replaceAll('\\', '\\\\')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/[|`*_[\]~@#]/g, (mark) => (mark === '@' ? '@\u200b' : mark === '#' ? '&#35;' : `\\${mark}`))
    .replace(/\s+/g, ' ')
}

/** A code block whose fence does not occur in its content. */
function fenced(words: string): string {
  const longest = Math.max(2, ...[...words.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${words}\n${fence}`
}
