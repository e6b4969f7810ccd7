import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Handler } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { needBinary } from '../../testing/testenv.ts'
import { respond } from '../http/respond.ts'
import { decodeProtobuf, PROTOBUF } from './decode-protobuf.ts'

// Every command that kubectl sends through its typed clients, with flags that reach into the corners of its kind.
const COMMANDS: readonly string[] = [
  'create namespace n',
  'create configmap c --from-literal=a=b --from-literal=empty=',
  'create secret generic s --from-literal=a=b --type=example.com/x',
  'create secret docker-registry r --docker-server=x --docker-username=u --docker-password=p',
  'create serviceaccount a',
  'create deployment d --image=web:1 --replicas=0 --port=80 -- serve -x',
  'create job j --image=web:1 -- run it',
  'create cronjob cj --image=web:1 --schedule=*/5.*.*.*.* --restart=Never -- run it',
  'create service clusterip cl --tcp=80:8080 --tcp=443:web',
  'create service clusterip none --clusterip=None',
  'create service nodeport np --tcp=80:8080 --node-port=30080',
  'create service loadbalancer lb --tcp=80',
  'create service externalname en --external-name=example.com',
  'create ingress i --rule=foo.com/bar*=svc:80,tls=cert --class=nginx --annotation=a=b --default-backend=d:http',
  'create poddisruptionbudget p --selector=a=b --min-available=50%',
  'create poddisruptionbudget q --selector=a=b --max-unavailable=1',
  'create priorityclass pc --value=-10 --global-default=true --description=low --preemption-policy=Never',
  'create quota q --hard=cpu=1,pods=2,memory=1Gi --scopes=BestEffort',
  'create role r --verb=get,list --resource=configmaps --resource-name=c',
  'create clusterrole cr --verb=get --non-resource-url=/metrics',
  'create clusterrole ag --aggregation-rule=a=b',
  'create rolebinding rb --role=r --user=u --group=g --serviceaccount=ns:sa',
  'create clusterrolebinding crb --clusterrole=cr --group=g',
]

describe('what the real kubectl sends in protobuf is what it would have sent in JSON', { timeout: 120_000 }, () => {
  let home: ApiHome
  let folder: string
  const bodies: { readonly path: string; readonly object: unknown }[] = []

  before(async () => {
    const record = (handle: Handler): Handler => {
      return (request, caller, signal) => {
        if (request.method !== 'POST' || request.headers['content-type'] !== PROTOBUF) {
          return handle(request, caller, signal)
        }
        const object = decodeProtobuf(request.body ?? new Uint8Array())
        bodies.push({ path: request.path, object })
        return Promise.resolve(respond({ status: 201, object }))
      }
    }
    home = await startApiHome(undefined, { wrap: record })
    folder = await mkdtemp(join(tmpdir(), 'flotilla-protobuf-'))
    await writeFile(join(folder, 'kubeconfig'), home.kubeconfig)
  })
  after(async () => {
    await home?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  function kubectl(args: readonly string[]): Promise<string> {
    const all = [
      '--kubeconfig',
      join(folder, 'kubeconfig'),
      '--cache-dir',
      join(folder, 'cache'),
      '-n',
      'shop',
      ...args,
    ]
    return new Promise((resolve, reject) => {
      execFile(needBinary('kubectl'), all, { cwd: folder, timeout: 60_000 }, (error, out, err) => {
        if (error) reject(new Error(`kubectl ${args.join(' ')}: ${err}${out}`))
        else resolve(out)
      })
    })
  }

  for (const command of COMMANDS) {
    it(command, async () => {
      const words = command.split(' ').map((word) => (word.startsWith('--schedule') ? word.replaceAll('.', ' ') : word))
      const end = words.includes('--') ? words.indexOf('--') : words.length
      const wanted: unknown = JSON.parse(
        await kubectl([...words.slice(0, end), '--dry-run=client', '-o', 'json', ...words.slice(end)]),
      )
      bodies.length = 0
      await kubectl(words)
      assert.equal(bodies.length, 1, 'one body in protobuf')
      assert.deepEqual(said(bodies[0]!.object), said(wanted))
    })
  }
})

/**
 * Only what was said: the two forms write down different zeros, and only one of them writes the namespace of the path.
 */
function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(said)
  if (!isObject(value)) return value
  const entries = Object.entries(value)
    .map(([key, item]) => [key, said(item)] as const)
    .filter(
      ([key, item]) => key !== 'namespace' && item !== null && !(isObject(item) && Object.keys(item).length === 0),
    )
  return Object.fromEntries(entries)
}
