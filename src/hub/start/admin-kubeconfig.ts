/**
 * The administrator's kubeconfig of an embedded hub. Its certificate may do everything, and no list revokes it, so that
 * it ends after 30 days. Restarts use it again; a running hub replaces it when a third of its time is left.
 */
import type { Connection } from '../../client/connection.ts'
import { kubeconfigFor, readKubeconfig } from '../../client/kubeconfig.ts'
import { parseCertificate, wasIssuedBy } from '../../core/crypto/x509.ts'
import { toError } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'
import { readFileIfExists, replaceFileAtomically } from '../home/atomic-files.ts'
import { ADMIN_DAYS, issueAdminCertificate } from '../keys/hub-keys.ts'
import type { HubKeys } from '../keys/hub-keys.ts'
import { HUB_USERS } from '../ports.ts'
import type { HubPorts } from '../ports.ts'

const DAY_MS = 24 * 3_600_000

export interface AdminKubeconfigOptions extends HubPorts {
  readonly file: string
  readonly server: string
  readonly keys: () => HubKeys
}

/** Writes the file if its certificate cannot be used for long enough, or if the address of the API changed. */
export async function writeAdminKubeconfig(options: AdminKubeconfigOptions): Promise<void> {
  const { file, server, keys, ids } = options
  const known = await readUsable(options)
  const connection = known ?? issued(options)
  if (known?.server === server) return
  const user = { ...connection, server, ca: keys().apiCa.certificate, user: HUB_USERS.admin.commonName }
  await replaceFileAtomically(file, writeYaml(kubeconfigFor('flotilla', user)), ids)
}

/** Keeps the file usable until the signal is aborted. */
export async function keepAdminKubeconfig(options: AdminKubeconfigOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, file } = options
  while (!signal.aborted) {
    await clock.sleep(DAY_MS / 4, signal).catch(() => {}) // the hub closes
    if (signal.aborted) return
    await writeAdminKubeconfig(options).catch((caught: unknown) =>
      log.error({ err: toError(caught), file }, "the administrator's certificate could not be renewed"),
    )
  }
}

/** The connection of the file, if its certificate is of this hub, lives for days and not for years, and is not due. */
async function readUsable({ file, keys, clock }: AdminKubeconfigOptions): Promise<Connection | undefined> {
  const text = await readFileIfExists(file)
  if (text === undefined) return undefined
  try {
    const readFile = () => Promise.reject(new Error('the hub writes certificates into the file itself'))
    const { connection } = await readKubeconfig({ text, file, readFile })
    const { cert, ca } = connection
    if (cert === undefined || ca !== keys().apiCa.certificate || !wasIssuedBy(cert, ca)) return undefined
    const { subject, notBefore, notAfter } = parseCertificate(cert)
    const isAdmin = subject.commonName === HUB_USERS.admin.commonName
    const isShort = notAfter - notBefore <= (ADMIN_DAYS + 2) * DAY_MS
    const isDue = notAfter - clock.now() < (ADMIN_DAYS / 3) * DAY_MS
    return isAdmin && isShort && !isDue ? connection : undefined
  } catch {
    return undefined // changed by a person, or cut: it is written anew
  }
}

function issued({ server, keys, ...ports }: AdminKubeconfigOptions): Connection {
  const { certificate, privateKey } = issueAdminCertificate(keys(), HUB_USERS.admin, ports)
  return { server, ca: keys().apiCa.certificate, cert: certificate, key: new Secret(privateKey) }
}
