// Tested by src/cli/checks/checks.test.ts.
/** The checks of `flotilla check` and their output. Every check has a section in docs/checks.md. */

import { plural } from '../../core/text/name-some.ts'
import { DOCUMENTATION } from '../../core/version.ts'

export const CHECK_IDS = [
  'node',
  'state-folder',
  'ports',
  'hub-reachable',
  'hub-ready',
  'hub-maintenance',
  'hub-parts',
  'hub-authorities',
  'dialect-peers',
  'hub-gateway',
  'hub-storage',
  'last-backup',
  'journal',
  'clock-skew',
  'version',
  'own-certificate',
  'may-list',
  'pending-clusters',
  'join-tokens',
  'projects',
  'agent-versions',
  'rollouts-stuck',
  'rollouts-failed',
  'sources-failing',
  'bundles-unbuilt',
  'placements-held',
  'changes-held',
  'bundles-held-back',
  'plaintext-secrets',
  'open-defaults',
  'former-defaults',
  'accepted',
  'alias-taken',
  'agent-connected',
  'one-agent',
  'certificate',
  'document',
  'bundle-failed',
  'bundle-drifted',
  'document-refused',
  'data-folder',
  'data-space',
  'joined',
  'agent-version',
  'gateway-reachable',
  'proxy',
  'gateway-root',
  'cluster-reachable',
  'agent-rights',
  'executor-rights',
] as const

export type CheckId = (typeof CHECK_IDS)[number]

export type CheckResult = 'ok' | 'warning' | 'failed'

/** The result of a check. */
export interface Check {
  readonly id: CheckId
  readonly result: CheckResult
  /** The result in one line. */
  readonly text: string
}

/** Checks that belong together. */
export interface CheckCategory {
  readonly name: string
  readonly checks: readonly Check[]
}

/** The signs of the results, with their ASCII form. */
const GLYPHS: Readonly<Record<CheckResult, readonly [utf8: string, ascii: string]>> = {
  ok: ['√', 'ok'],
  warning: ['‼', '!!'],
  failed: ['×', 'x'],
}

export interface CheckPrinting {
  readonly format: 'table' | 'short' | 'json'
  readonly isUtf8: boolean
}

/** Prints checks. `short` omits checks that passed. */
export function printChecks(categories: readonly CheckCategory[], { format, isUtf8 }: CheckPrinting): string {
  if (format === 'json') return `${JSON.stringify(checksAsJson(categories), undefined, 2)}\n`
  const blocks = categories.flatMap(({ name, checks }) => {
    const shown = format === 'short' ? checks.filter(({ result }) => result !== 'ok') : checks
    if (shown.length === 0) return []
    const lines = shown.map(({ id, result, text }) => {
      const line = `${GLYPHS[result][isUtf8 ? 0 : 1]} ${text}`
      return result === 'ok' ? line : `${line}\n    see ${sectionOf(id)}`
    })
    return [`${name}\n${'-'.repeat(name.length)}\n${lines.join('\n')}\n`]
  })
  return [...blocks, `${summary(categories)}\n`].join('\n')
}

function sectionOf(id: CheckId): string {
  return `${DOCUMENTATION}/checks.md#${id}`
}

/** The worst result of all checks. */
export function worstOf(categories: readonly CheckCategory[]): CheckResult {
  const results = categories.flatMap(({ checks }) => checks.map(({ result }) => result))
  return results.includes('failed') ? 'failed' : results.includes('warning') ? 'warning' : 'ok'
}

function summary(categories: readonly CheckCategory[]): string {
  const count = (wanted: CheckResult): number =>
    categories.reduce((sum, { checks }) => sum + checks.filter(({ result }) => result === wanted).length, 0)
  return `${count('failed')} failed, ${plural(count('warning'), 'warning')}, ${count('ok')} passed`
}

function checksAsJson(categories: readonly CheckCategory[]): object {
  return {
    success: worstOf(categories) !== 'failed',
    categories: categories.map(({ name, checks }) => ({
      categoryName: name,
      checks: checks.map(({ id, result, text }) => ({
        description: text,
        result: result === 'failed' ? 'error' : result === 'ok' ? 'success' : 'warning',
        ...(result !== 'ok' && { hint: sectionOf(id) }),
      })),
    })),
  }
}
