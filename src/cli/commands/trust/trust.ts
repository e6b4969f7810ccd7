/** `flotilla trust` and `flotilla hub new-epoch`: changes that the root key signs. */
import { compact } from '../../../core/compact.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of these commands. */
export interface TrustFlags {
  readonly data: string
  readonly root?: string
  readonly dropOld?: boolean
  readonly yes?: boolean
  readonly output?: 'text' | 'json'
}

export interface TrustInput {
  readonly terminal: Terminal
  readonly flags: TrustFlags
  readonly confirm: (question: string) => Promise<boolean>
}

const PORTS = { clock: systemClock, ids: systemIds }

/** Creates the root key and all other keys of a hub in a directory of an operator. */
export async function trustInit(
  endpoints: readonly string[],
  { terminal, flags }: { readonly terminal: Terminal; readonly flags: { readonly data: string } },
): Promise<void> {
  const wrong = endpoints.find(
    (endpoint) => !/^https:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:\d{1,5})?$/.test(endpoint),
  )
  if (wrong !== undefined) {
    throw new CliError(EXIT.usage, {
      what: `invalid address ${JSON.stringify(wrong)}: must be https://HOST:PORT of the gateway`,
    })
  }
  const { createTrustFiles } = await import('../../../hub/keys/trust-files.ts')
  const { trust, root } = await createTrustFiles(flags.data, endpoints, PORTS)
  terminal.data(`root key ${trust.root.keyId}\n`)
  terminal.step('warn', `${root} is the root key: keep it on this machine or offline; only "flotilla trust" needs it`)
  terminal.step('next', `flotilla trust secret --data ${flags.data} | kubectl apply -f -`)
}

/** Prints the Secret with the keys of hubs. */
export async function printTrustSecret({
  terminal,
  flags,
}: {
  readonly terminal: Terminal
  readonly flags: { readonly data: string; readonly name: string; readonly namespace: string }
}): Promise<void> {
  if (terminal.isLive) {
    throw new CliError(EXIT.usage, {
      what: 'the Secret contains private keys and is not printed on a terminal',
      todo: 'pipe it: flotilla trust secret … | kubectl apply -f -',
    })
  }
  const [{ trustSecret }, { writeYaml }] = await Promise.all([
    import('../../../hub/keys/trust-files.ts'),
    import('../../../yaml/write/write-yaml.ts'),
  ])
  terminal.data(writeYaml(await trustSecret(flags, { name: flags.name, namespace: flags.namespace })))
}

/** Replaces the document signer or the transport CA. */
export async function trustRotate(what: 'signer' | 'ca', input: TrustInput): Promise<void> {
  const { terminal, flags } = input
  const { dropOld = false } = flags
  if (dropOld) {
    await requireConfirmation(
      `stop accepting the old ${what} at once; offline agents learn of the change when they reconnect`,
      input,
    )
  }
  const { rotateTrust } = await import('../../../hub/keys/trust-files.ts')
  const { newest } = await rotateTrust(placeOf(flags), what, dropOld, PORTS)
  terminal.data(`trust version ${newest.bundle.version}: new ${what === 'ca' ? 'CA' : 'signer'}\n`)
  terminal.step(
    'next',
    'a running hub uses the new trust bundle within seconds; agents receive it at their next check-in',
  )
  if (!dropOld) terminal.say(`agents still accept the old ${what}; drop it later with --drop-old`)
}

/** Replaces the CA of the API, which ends all client certificates. */
export async function trustRotateApi(input: TrustInput): Promise<void> {
  const { terminal, flags } = input
  await requireConfirmation(
    'replace the CA of the API, which ends all client certificates, also those of admin.kubeconfig and its copies',
    input,
  )
  const { rotateApiCa } = await import('../../../hub/keys/rotate-api-ca.ts')
  await rotateApiCa(flags.data, PORTS)
  terminal.data('new CA of the API\n')
  terminal.step('next', 'start the hub; it writes a new admin.kubeconfig, and other users need new certificates')
}

/** Prints the public part of the trust, for a record outside the hub. */
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

/** Signs the minimum version of agents. */
export async function trustRequireAgent(
  version: string,
  { terminal, flags }: Omit<TrustInput, 'confirm'>,
): Promise<void> {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new CliError(EXIT.usage, { what: `invalid version ${JSON.stringify(version)}: must be MAJOR.MINOR.PATCH` })
  }
  const { requireAgentVersion } = await import('../../../hub/keys/trust-files.ts')
  const { newest } = await requireAgentVersion(placeOf(flags), version, PORTS)
  terminal.data(`trust version ${newest.bundle.version}: agents require version ${version} or newer\n`)
}

/** Begins a new epoch. */
export async function hubNewEpoch(input: TrustInput): Promise<void> {
  const { terminal, flags } = input
  await requireConfirmation(
    'begin a new epoch from the present state of this hub; documents that agents received from the lost state no longer count, and agents keep their workloads until this hub has caught up',
    input,
  )
  const { startEpoch } = await import('../../../hub/keys/trust-files.ts')
  const { epoch, version } = (await startEpoch(placeOf(flags), PORTS)).newest.bundle
  terminal.data(`epoch ${epoch}, trust version ${version}\n`)
  terminal.step(
    'next',
    'a running hub begins the epoch within seconds and issues a document of the new epoch to every cluster',
  )
}

function placeOf({ data, root }: TrustFlags) {
  return compact({ data, root })
}
