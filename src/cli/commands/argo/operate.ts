// Tested by src/cli/commands/argo/operate.test.ts
/** `flotilla argo diff`, `rollback`, `terminate-op` and `delete`. */
import { clientOver } from '../../../client/create-client.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { APPLICATIONS } from './application.ts'
import type { Application, Deployment } from './application.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import { findApplication } from './applications.ts'
import type { ArgoInput } from './applications.ts'
import { refuseRunning, waitForEnd } from './sync.ts'
import type { SyncInput } from './sync.ts'

const TERMINATE = 'flotilla.dev/terminate-operation'
const RESOURCES = 'resources-finalizer.argocd.argoproj.io'

/** Prints the objects that a sync would change; the exit code is 1 if there are any. */
export async function argoDiff(word: string, { connection, terminal, flags }: ArgoInput): Promise<ExitCode> {
  const app = await findApplication(clientOver(connection.rest), word, flags.namespace)
  const { sync, resources = [] } = app.status ?? {}
  if (sync === undefined || sync.status === 'Unknown') {
    const why = (app.status?.conditions ?? []).map(({ type, message }) => `${type}: ${message}`)
    throw new CliError(EXIT.usage, {
      what: `the differences of Application "${app.metadata.name}" are not known`,
      why: why[0] ?? 'the hub has not compared the Application yet',
      todo: `run flotilla argo get ${word}`,
    })
  }
  const changed = resources.filter(({ status, hook }) => status === 'OutOfSync' && !hook)
  for (const one of changed) {
    const { group = '', kind, namespace = '', name, health, requiresPruning } = one
    terminal.data(`\n===== ${group}/${kind} ${namespace}/${name} ======\n`)
    const message = health?.message === undefined ? '' : `: ${health.message}`
    if (requiresPruning) terminal.data('- is no longer part of the content\n')
    else if (health?.status === 'Missing') terminal.data('+ is not in the cluster\n')
    else terminal.data(`~ differs from the content${message}\n`)
  }
  if (changed.length === 0 && sync.status === 'OutOfSync') {
    terminal.data('The sync differs from the newest revision, and not in its objects.\n')
    return EXIT.failed
  }
  return changed.length === 0 ? EXIT.ok : EXIT.failed
}

export interface RollbackInput extends Omit<SyncInput, 'flags'> {
  readonly flags: SyncInput['flags'] & { readonly prune?: boolean }
}

/** Delivers a deployment of the history again, and waits for its end. */
export async function argoRollback(words: readonly string[], input: RollbackInput): Promise<ExitCode> {
  const { connection, flags } = input
  const client = clientOver(connection.rest)
  const app = await findApplication(client, words[0]!, flags.namespace)
  const { name, namespace = '' } = app.metadata
  const automated = app.spec.syncPolicy?.automated
  if (automated && automated.enabled !== false) {
    throw new CliError(EXIT.conflict, {
      what: 'rollback cannot be initiated when auto-sync is enabled',
      why: `Application "${name}" would be synced to its newest revision again`,
      todo: 'remove spec.syncPolicy.automated, or revert the commit',
    })
  }
  refuseRunning(app)
  const entry = deploymentOf(app, words[1])
  const { username } = await whoAmI(connection.rest)
  const { revision, revisions, source, sources } = entry
  const sync = compact({
    revision,
    revisions,
    source,
    sources,
    prune: flags.prune ? true : undefined,
    syncStrategy: { apply: {} },
  })
  const body = { operation: { sync, initiatedBy: { username } } }
  await client.patch(APPLICATIONS, { namespace, name }, { type: 'merge', body })
  return await waitForEnd(app, input)
}

/** The deployment with an id, or the one before the last. */
function deploymentOf(app: Application, id: string | undefined): Deployment {
  const history = app.status?.history ?? []
  const found = id === undefined ? history.at(-2) : history.find((one) => String(one.id) === id)
  if (found) return found
  const { name } = app.metadata
  throw new CliError(EXIT.notFound, {
    what:
      id === undefined
        ? `Application "${name}" has no earlier deployment`
        : `Application "${name}" has no deployment with the ID ${id}`,
    todo: `run flotilla argo history ${name}`,
  })
}

/** Ends the operation that is in progress. */
export async function argoTerminate(word: string, { connection, terminal, flags }: ArgoInput): Promise<void> {
  const client = clientOver(connection.rest)
  const app = await findApplication(client, word, flags.namespace)
  const { name, namespace = '', resourceVersion } = app.metadata
  const state = app.status?.operationState
  const isPending = app.operation !== undefined && state?.phase !== 'Running'
  if (!isPending && state?.phase !== 'Running') {
    throw new CliError(EXIT.conflict, {
      what: `no operation of Application "${name}" is in progress`,
      todo: `run flotilla argo get ${name}`,
    })
  }
  // An operation that begins in between is another one: the resource version refuses the first, the time the second.
  const body = isPending
    ? { metadata: { resourceVersion }, operation: null }
    : { metadata: { annotations: { [TERMINATE]: state!.startedAt } } }
  await client.patch(APPLICATIONS, { namespace, name }, { type: 'merge', body })
  terminal.step('ok', `Application "${name}" operation terminating`)
}

export interface DeleteInput extends ArgoInput {
  readonly confirm: (question: string) => Promise<boolean>
  readonly flags: ArgoInput['flags'] & {
    readonly cascade?: string
    readonly propagationPolicy?: string
    readonly yes?: boolean
  }
}

/** Deletes Applications, by default with their objects in the cluster. */
export async function argoDelete(words: readonly string[], input: DeleteInput): Promise<void> {
  const { connection, terminal, flags } = input
  const isCascade = readCascade(flags.cascade)
  const client = clientOver(connection.rest)
  for (const word of words) {
    const { metadata } = await findApplication(client, word, flags.namespace)
    const { name, namespace = '', uid } = metadata
    const what = isCascade ? 'with all its objects in the cluster' : 'and keeps its objects in the cluster'
    await requireConfirmation(`This deletes Application "${name}" ${what}`, input)
    const finalizer = isCascade ? finalizerOf(flags.propagationPolicy) : undefined
    await setFinalizer(client, { namespace, name }, finalizer)
    await client.delete(APPLICATIONS, { namespace, name }, compact({ uid }))
    terminal.step('ok', `Application "${name}" deleted`)
  }
}

function readCascade(text = 'true'): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new CliError(EXIT.usage, { what: `--cascade is true or false, found ${JSON.stringify(text)}` })
}

function finalizerOf(policy = 'foreground'): string {
  if (policy === 'foreground') return RESOURCES
  if (policy === 'background') return `${RESOURCES}/background`
  throw new CliError(EXIT.usage, {
    what: `--propagation-policy is foreground or background, found ${JSON.stringify(policy)}`,
  })
}

const TRIES = 5

/** Other finalizers stay: a list is replaced as a whole, so each try names the version that it read. */
async function setFinalizer(
  client: ReturnType<typeof clientOver>,
  key: { readonly namespace: string; readonly name: string },
  finalizer: string | undefined,
): Promise<void> {
  for (let left = TRIES; ; left--) {
    const { metadata } = await client.get(APPLICATIONS, key)
    const { finalizers = [], resourceVersion } = metadata
    const others = finalizers.filter((one) => !one.startsWith(RESOURCES))
    const next = finalizer === undefined ? others : [...others, finalizer]
    if (next.length === finalizers.length && next.every((one) => finalizers.includes(one))) return
    try {
      const body = { metadata: { resourceVersion, finalizers: next } }
      await client.patch(APPLICATIONS, key, { type: 'merge', body })
      return
    } catch (caught) {
      if (!isApiError(caught, 'Conflict') || left === 0) throw caught
    }
  }
}
