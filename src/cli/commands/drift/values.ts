/** `flotilla drift show --values`: the values of drifted fields, sealed by the agent to a key of this command. */
import type { KeyPair } from '../../../core/bytes.ts'
import { base64, publicKeyDer } from '../../../core/bytes.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { Secret } from '../../../core/secret.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { openDriftValues } from '../../../plan/drift/drift-values.ts'
import type { DriftValues } from '../../../plan/drift/drift-values.ts'
import { CLUSTERS } from '../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { askAgent } from '../agent/ask-agent.ts'
import type { AskInput } from '../agent/ask-agent.ts'
import { driftedOn } from './drift.ts'

export interface ValuesInput extends AskInput {
  readonly newKey: () => KeyPair
  readonly flags: { readonly output?: string; readonly bundle?: string; readonly timeout?: string }
}

type Answer = NonNullable<ClusterReport['spec']['values']>

/** Asks the agent for the values of each drifted Bundle, one after the other, and prints them side by side. */
export async function driftShowValues(words: readonly string[], input: ValuesInput): Promise<void> {
  const [name = ''] = words
  const { connection, terminal, flags } = input
  const rows = await driftedOn(name, { connection, flags })
  const found: { bundle: string; values: DriftValues }[] = []
  for (const { bundle } of rows) found.push({ bundle, values: await valuesOf(name, bundle, input) })
  if (flags.output === 'json') {
    const items = found.map(({ bundle, values }) => ({ cluster: name, bundle, ...values }))
    return terminal.data(`${JSON.stringify(items, undefined, 2)}\n`)
  }
  if (found.length === 0) return terminal.step('ok', `no drift found on cluster "${name}"`)
  for (const { bundle, values } of found) terminal.data(describe(bundle, values))
}

async function valuesOf(name: string, bundle: string, input: ValuesInput): Promise<DriftValues> {
  const pair = input.newKey()
  const key = base64(publicKeyDer(pair.publicKey))
  const answer = await askAgent<Answer>(name, input, {
    noun: `values of bundle "${bundle}"`,
    spec: (at) => ({ valuesAsked: { at, bundle, key } }),
    // Each question has a key of its own.
    answer: ({ values }) => (values?.key === key && values.bundle === bundle ? values : undefined),
    elsewhere: () => ({
      offline: `list the changed fields with "flotilla drift show ${name}"`,
      silent: `check the cluster with "flotilla check ${name}"; if another user asked at the same time, ask again`,
    }),
  }).catch((caught: unknown) => {
    if (!isApiError(caught, 'Forbidden')) throw caught
    throw new CliError(EXIT.forbidden, {
      what: `cluster "${name}": values of bundle "${bundle}" cannot be shown`,
      why: caught.message,
      todo: 'ask an administrator for the verb "reveal" on bundlestates.view.flotilla.dev and "patch" on clusters.flotilla.dev',
    })
  })
  const { spec } = await clientOver(input.connection.rest).get(CLUSTERS, { name })
  const context = { clusterId: spec.id, bundle, asked: answer.asked }
  return openDriftValues(context, answer.sealed, new Secret(pair.privateKey))
}

function describe(bundle: string, { objects, more = 0 }: DriftValues): string {
  const lines = objects.flatMap(({ object, fields }) => [
    `  ${object}`,
    ...fields.flatMap(({ field, delivered, live, hidden }) => [
      `    ${field}`,
      ...(hidden
        ? ['      values are hidden, because they can be secret']
        : [...side('delivered', delivered), ...side('live', live)]),
    ]),
  ])
  if (objects.length === 0) lines.push('  the drift is gone')
  if (more > 0) lines.push(`  ${plural(more, 'field')} did not fit`)
  return `bundle ${bundle}\n${lines.join('\n')}\n`
}

/** A value beside its name; further lines stand below it. */
function side(name: string, value: string | undefined): string[] {
  const [first = '', ...rest] = (value ?? '(absent)').replaceAll(/[^\P{Cc}\n\t]/gu, '�').split('\n')
  return [`      ${name.padEnd(10)} ${first}`, ...rest.map((line) => `                 ${line}`)]
}
