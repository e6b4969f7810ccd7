/**
 * A real node in a sandbox: containerd, kubelet, kube-proxy and DNS for a control plane that runs in the same sandbox.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { becomeReady } from '../control-plane/etcd.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Server } from '../control-plane/server-processes.ts'
import { debianPartsDir, needBinary } from '../testenv.ts'
import type { Sandbox } from './sandbox.ts'

export interface NodeOptions {
  /** `host:port` of the registry that images come from, without TLS. */
  readonly registry: string
  /** The image with which a pod begins. */
  readonly pauseImage: string
}

/** Starts the node `node-1` and waits until pods can run on it. */
export async function startNode(sandbox: Sandbox, plane: ControlPlane, options: NodeOptions): Promise<Server[]> {
  const dir = join(sandbox.dir, 'node')
  mkdirSync(join(dir, 'cni'), { recursive: true })
  mkdirSync(join(dir, 'certs.d', options.registry), { recursive: true })
  const write = (file: string, content: string | object): string => {
    const path = join(dir, file)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
    return path
  }
  const registry = `http://${options.registry}`
  write(
    join('certs.d', options.registry, 'hosts.toml'),
    `server = "${registry}"\n[host."${registry}"]\ncapabilities = ["pull", "resolve"]\n`,
  )
  write('cni/10.conflist', cniConfig(sandbox))
  const runtime = sandbox.startInside('containerd', join(debianPartsDir(), 'usr/bin/containerd'), [
    '--config',
    write('containerd.toml', containerdConfig(dir, options.pauseImage)),
  ])
  const servers = [
    runtime,
    sandbox.start('dns', process.execPath, [
      join(import.meta.dirname, 'dns-main.ts'),
      sandbox.address,
      plane.kubeconfigPath,
    ]),
    sandbox.start('kube-proxy', needBinary('kube-proxy'), [
      `--kubeconfig=${plane.writeKubeconfig('system:kube-proxy')}`,
      '--hostname-override=node-1',
      '--proxy-mode=nftables',
      `--cluster-cidr=${sandbox.podNetwork}`,
      `--nodeport-addresses=${sandbox.address}/32,${sandbox.outside}/32`,
      // The limits cannot be written outside the first network namespace.
      '--conntrack-max-per-core=0',
      '--conntrack-min=0',
      '--conntrack-tcp-timeout-established=0s',
      '--conntrack-tcp-timeout-close-wait=0s',
      '--healthz-bind-address=127.0.0.1:10256',
    ]),
    sandbox.startInside('kubelet', needBinary('kubelet'), [
      `--kubeconfig=${plane.writeKubeconfig('system:node:node-1', ['system:nodes'])}`,
      `--config=${write('kubelet.json', kubeletConfig(sandbox))}`,
      '--hostname-override=node-1',
      `--node-ip=${sandbox.address}`,
      `--cert-dir=${dir}`,
    ]),
  ]
  await becomeReady(servers, async () => {
    const { status, text } = await plane.call('GET', '/api/v1/nodes/node-1')
    if (status !== 200) return false
    const { spec, status: state } = JSON.parse(text) as {
      readonly spec: { readonly taints?: unknown }
      readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
    }
    const isReady = state.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
    return isReady && spec.taints === undefined
  })
  return servers
}

function cniConfig({ podNetwork }: Sandbox): object {
  const ipam = {
    type: 'host-local',
    dataDir: '/run/ipam',
    ranges: [[{ subnet: podNetwork }]],
    routes: [{ dst: '0.0.0.0/0' }],
  }
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: false, hairpinMode: true, ipam }
  return { cniVersion: '1.0.0', name: 'pods', plugins: [bridge] }
}

function containerdConfig(dir: string, pauseImage: string): string {
  const cri = '[plugins."io.containerd.grpc.v1.cri"'
  return `version = 2
${cri}]
  sandbox_image = "${pauseImage}"
  # Without CAP_SYS_RESOURCE, the OOM score of a pod cannot be lowered.
  restrict_oom_score_adj = true
${cri}.cni]
  bin_dir = "${join(debianPartsDir(), 'usr/lib/cni')}"
  conf_dir = "${join(dir, 'cni')}"
${cri}.registry]
  config_path = "${join(dir, 'certs.d')}"
`
}

function kubeletConfig({ name, address }: Sandbox): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${name}`,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    clusterDNS: [address],
    clusterDomain: 'cluster.local',
    resolvConf: '/run/resolv.conf',
    failSwapOn: false,
    protectKernelDefaults: true,
    evictionHard: {
      'memory.available': '1Mi',
      'nodefs.available': '0%',
      'imagefs.available': '0%',
      'nodefs.inodesFree': '0%',
    },
    imageGCHighThresholdPercent: 100,
    // A mounted Secret is renewed soon.
    syncFrequency: '10s',
  }
}
