// The DNS server of a test node: A records of Services with a cluster IP. Arguments: its address and a kubeconfig.
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[]
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[]
}

const [address, kubeconfigPath] = process.argv.slice(2) as [string, string]
const kubeconfig = JSON.parse(readFileSync(kubeconfigPath, 'utf8')) as Kubeconfig
const { server, 'certificate-authority-data': ca } = kubeconfig.clusters[0]!.cluster
const { 'client-certificate-data': cert, 'client-key-data': key } = kubeconfig.users[0]!.user
const pem = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString()
const [A_RECORD, TTL_S] = [1, 5]
const NAME = /^([^.]+)\.([^.]+)\.svc\.cluster\.local$/
/** No more than this is asked of the API while names are looked up again and again. */
const known = new Map<string, { readonly ip: string | undefined; readonly untilMs: number }>()

async function addressOf(name: string): Promise<string | undefined> {
  const before = known.get(name)
  if (before && before.untilMs > performance.now()) return before.ip
  const [, service, namespace] = NAME.exec(name) ?? []
  const ip = service === undefined ? undefined : await clusterIp(`/api/v1/namespaces/${namespace}/services/${service}`)
  known.set(name, { ip, untilMs: performance.now() + TTL_S * 1000 })
  return ip
}

function clusterIp(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = request(`${server}${path}`, { ca: pem(ca), cert: pem(cert), key: pem(key) }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => {
        const { spec } = JSON.parse(text) as { readonly spec?: { readonly clusterIP?: string } }
        resolve(spec?.clusterIP === 'None' ? undefined : spec?.clusterIP)
      })
    })
    asked.on('error', () => resolve(undefined))
    asked.end()
  })
}

/** The answer to a question: the same header and question, and the address if there is one. */
async function answerTo(query: Buffer): Promise<Buffer> {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  const question = query.subarray(12, at + 5)
  const ip = await addressOf(labels.join('.').toLowerCase())
  const hasAnswer = ip !== undefined && query.readUInt16BE(at + 1) === A_RECORD
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  // A name without an address does not exist (3).
  header.writeUInt16BE(0x8580 | (ip === undefined ? 3 : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(hasAnswer ? 1 : 0, 6)
  if (!hasAnswer) return Buffer.concat([header, question])
  const record = Buffer.from([0xc0, 12, 0, A_RECORD, 0, 1, 0, 0, 0, TTL_S, 0, 4, ...ip.split('.').map(Number)])
  return Buffer.concat([header, question, record])
}

const socket = createSocket('udp4')
socket.on('message', (query, from) => {
  void answerTo(query).then((answer) => socket.send(answer, from.port, from.address))
})
socket.bind(53, address)
