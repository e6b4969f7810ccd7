/** `flotilla trust` and `flotilla hub new-epoch`: changes that only the root key can make. */
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of these commands. */
export interface TrustFlags {
  readonly data: string
  readonly root?: string
  readonly dropOld?: boolean
  readonly yes?: boolean
  readonly output?: 'text' | 'json'
}

/** What they work with. */
export interface TrustInput {
  readonly terminal: Terminal
  readonly flags: TrustFlags
  readonly confirm: (question: string) => Promise<boolean>
}

const PORTS = { clock: systemClock, ids: systemIds }

/** Replaces the document signer or the transport CA. */
export async function trustRotate(what: 'signer' | 'ca', { terminal, flags, confirm }: TrustInput): Promise<void> {
  const { dropOld = false } = flags
  if (dropOld && !flags.yes) {
    const question = `Stop believing the old ${what} at once? Agents that are away hear of it when they return.`
    if (!(await confirm(question))) throw new CliError(EXIT.failed, { what: 'nothing was changed' })
  }
  const { rotateTrust } = await import('../../../hub/keys/trust-files.ts')
  const { newest } = await rotateTrust(placeOf(flags), what, dropOld, PORTS)
  terminal.data(`trust version ${newest.bundle.version}: new ${what === 'ca' ? 'CA' : 'signer'}\n`)
  terminal.step(
    'next',
    'a running hub takes it within seconds; agents hear of it with the next beat, or when they return',
  )
  if (!dropOld) terminal.say(`the old ${what} is still believed; take that away later with --drop-old`)
}

/** Prints everything public of the trust: root, versions, keys; for a record outside of the hub. */
export async function trustExport({ terminal, flags }: Omit<TrustInput, 'confirm'>): Promise<void> {
  const [{ readTrust }, { base64 }] = await Promise.all([
    import('../../../hub/keys/trust-files.ts'),
    import('../../../core/bytes.ts'),
  ])
  const { root, envelopes, newest } = await readTrust(flags)
  const about = {
    root: { keyId: root.keyId, publicKey: root.publicKey },
    newest: newest.bundle,
    bundles: envelopes.map((envelope) => base64(envelope)),
  }
  terminal.data(`${JSON.stringify(about, undefined, 2)}\n`)
}

/** Signs the least version of agents. */
export async function trustRequireAgent(
  version: string,
  { terminal, flags }: Omit<TrustInput, 'confirm'>,
): Promise<void> {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new CliError(EXIT.usage, { what: `${version} is no version of an agent`, why: 'want MAJOR.MINOR.PATCH' })
  }
  const { requireAgentVersion } = await import('../../../hub/keys/trust-files.ts')
  const { newest } = await requireAgentVersion(placeOf(flags), version, PORTS)
  terminal.data(`trust version ${newest.bundle.version}: agents from ${version} on\n`)
}

/** Begins a new timeline. */
export async function hubNewEpoch({ terminal, flags, confirm }: TrustInput): Promise<void> {
  const question =
    'Begin a new timeline from the state this hub has now? What agents hold of its lost future counts no more; they keep what they run until this hub has caught up with it.'
  if (!flags.yes && !(await confirm(question))) throw new CliError(EXIT.failed, { what: 'nothing was changed' })
  const { startEpoch: beginEpoch } = await import('../../../hub/keys/trust-files.ts')
  const { epoch, version } = (await beginEpoch(placeOf(flags), PORTS)).newest.bundle
  terminal.data(`epoch ${epoch}, trust version ${version}\n`)
  terminal.step('next', 'a running hub takes it within seconds and issues every cluster a document of the new epoch')
}

function placeOf({ data, root }: TrustFlags) {
  return { data, ...(root === undefined ? {} : { root }) }
}
