/**
 * Every condition type, reason and error code of Flotilla, with its meaning and what to do. `npm run docs` writes
 * docs/reference/conditions.md from it; a house test compares it with the reasons that the sources use.
 */

/** A condition type and the kinds that have it. */
export interface ConditionEntry {
  readonly type: string
  readonly kinds: readonly string[]
  readonly meaning: string
}

/** A reason: what it means, and what to do. An empty `todo` needs no action. */
export interface ReasonEntry {
  readonly reason: string
  readonly meaning: string
  readonly todo: string
}

/** Reasons of a part of the product. */
export interface ReasonGroup {
  readonly title: string
  readonly about: string
  readonly reasons: readonly ReasonEntry[]
}

const condition = (type: string, kinds: readonly string[], meaning: string): ConditionEntry => ({
  type,
  kinds,
  meaning,
})
const entry = (reason: string, meaning: string, todo = ''): ReasonEntry => ({ reason, meaning, todo })

/** The condition types. */
export const CONDITIONS: readonly ConditionEntry[] = [
  condition(
    'Ready',
    [
      'Source',
      'Bundle',
      'Delivery',
      'Placement',
      'Release',
      'Rollout',
      'Project',
      'Window',
      'ClusterWindow',
      'GitRepo',
      'GitRepository',
      'Kustomization',
    ],
    'True when the object has done what its spec asks for.',
  ),
  condition('Reconciling', ['all kinds with Ready'], 'True while the hub works on the object or waits; as in kstatus.'),
  condition(
    'SourceVerified',
    ['GitRepository'],
    'True when the signatures that `spec.verify` requires are valid; as in Flux.',
  ),
  condition('Stalled', ['all kinds with Ready'], 'True when a person must change something; as in kstatus.'),
  condition('Rendered', ['Bundle'], 'True when the content is rendered for at least one cluster.'),
  condition('Suspended', ['Bundle'], 'True while `spec.suspend` keeps new content from being rendered.'),
  condition('ArtifactInStorage', ['GitRepository'], 'True when the content of the repository is stored; as in Flux.'),
  condition('FetchFailed', ['GitRepository'], 'True while the repository cannot be fetched; as in Flux.'),
  condition('Linted', ['Bundle'], 'True when lint found nothing in the rendered objects.'),
  condition(
    'RulesMet',
    ['Bundle'],
    'True when the released content meets all rules on rendered content. Absent without rules.',
  ),
  condition('Reverted', ['Bundle'], 'True while the content equals content that was rolled back.'),
  condition('Removing', ['Bundle'], 'False when the removal of the Bundle from clusters cannot be recorded.'),
  condition('Unplaced', ['Bundle'], 'True while the Bundle reaches no cluster.'),
  condition(
    'PlaintextSecret',
    ['Bundle'],
    'True while clusters have Secrets whose values are in a repository that does not allow plaintext Secrets.',
  ),
  condition(
    'Unstaged',
    ['Bundle'],
    'True while a change of the Bundle reaches all clusters without a check in between.',
  ),
  condition('Unguarded', ['Placement'], 'True while the guard of the Placement is switched off.'),
  condition('Admitted', ['Delivery', 'ManifestWork'], 'True when all clusters may receive the content.'),
  condition('Applied', ['ManifestWork'], 'True when all manifests are applied; as in Open Cluster Management.'),
  condition('Empty', ['Placement'], 'True while the Placement selects no cluster.'),
  condition('Released', ['Source'], 'True when all Bundles of the newest revision are rendered.'),
  condition(
    'Held',
    ['Source', 'Rollout', 'GitRepo', 'ApplicationSet'],
    'True while the object waits for the event that its message names.',
  ),
  condition('Superseded', ['Rollout'], 'True when newer Rollouts have taken over all Bundles.'),
  condition('RolledBack', ['Rollout'], 'True when a rollback of the Rollout has been created.'),
  condition(
    'Accepted',
    ['Cluster', 'PropagationPolicy', 'OverridePolicy'],
    'True when the cluster may receive content, or when the policy of Karmada is valid.',
  ),
  condition('Scheduled', ['ResourceBinding'], 'True when the object has its target clusters; as in Karmada.'),
  condition('Moved', ['ResourceBinding'], 'False while replicas should leave a cluster out of reach and are held.'),
  condition('FullyApplied', ['ResourceBinding'], 'True when all clusters have applied the object; as in Karmada.'),
  condition('Available', ['Cluster'], 'True while the agent contacts the hub within its offline tolerance.'),
  condition('Assigned', ['Cluster'], 'False when no new document can be issued to the cluster.'),
  condition('Decommissioned', ['Cluster'], 'True when the cluster has left the fleet.'),
  condition('AliasTaken', ['Cluster'], 'True when an older Cluster has the same alias.'),
  condition('ClockSkewed', ['Cluster'], "True when the agent's clock differs from the hub's by a minute or more."),
  condition(
    'Pushed',
    ['Cluster'],
    'True while the hub runs the agent of a cluster that is registered by a kubeconfig and can be reached.',
  ),
  condition('Cloned', ['Cluster'], 'True while two agents use the identity of the cluster.'),
  condition('DocumentRefused', ['Cluster'], 'True while the agent does not follow the newest document.'),
  condition('HubBehind', ['Cluster'], 'True when the agent holds a document that the hub does not know.'),
  condition('SealingKeyRetired', ['Cluster'], 'True while the hub waits for a new sealing key of the agent.'),
  condition('Usable', ['JoinToken'], 'True while clusters can join with the token.'),
  condition('GitPolling', ['GitRepo'], 'The Ready condition of the Source that the hub created for the GitRepo.'),
  condition(
    'Healthy',
    ['Kustomization'],
    'The health of the objects. Absent for a Kustomization that does not wait for its objects.',
  ),
  condition('Compiled', ['Policy'], 'True when the Policy is a Bundle of checks that reaches its clusters.'),
  condition(
    'DutiesMet',
    ['Policy'],
    'False while clusters do not comply with the Policy and their deadline has passed. Absent without a deadline.',
  ),
  condition(
    'ClusterSetEmpty',
    ['ManagedClusterSet'],
    'True while the set has no cluster; Unknown while its selector is invalid.',
  ),
  condition(
    'LabelContested',
    ['ManagedCluster'],
    'True while two writers change a label in turns, one on the ManagedCluster and one on the Cluster.',
  ),
  condition(
    'PlacementMisconfigured',
    ["Open Cluster Management's Placement"],
    'True while the Placement has a mistake and keeps its last decisions.',
  ),
  condition(
    'Configured',
    ['ManagedClusterAddOn'],
    'True when the add-on is rendered with its configurations; False when it is refused, and what is installed stays.',
  ),
  condition(
    'Installed',
    ['ClusterManagementAddOn'],
    'True when the add-on is on all clusters that its Placements select; False while a Placement is not decided.',
  ),
  condition(
    'ManifestApplied',
    ['ManagedClusterAddOn'],
    'True when the manifests of the add-on are applied; False with the error of the cluster.',
  ),
  condition('Progressing', ['ManagedClusterAddOn'], 'True until the newest configurations of the add-on are applied.'),
  condition(
    'ManifestworkApplied',
    ['ManifestWorkReplicaSet'],
    'True when all clusters that the Placements select have applied the newest template.',
  ),
  condition(
    'ComparisonError',
    ['Application'],
    'Present while the repository cannot be fetched, or its content cannot be rendered.',
  ),
  condition(
    'InvalidSpecError',
    ['Application'],
    'Present while the Application, or an object of it, is not valid or not permitted.',
  ),
  condition('SyncError', ['Application'], 'Present while a guard stops a change of the content.'),
  condition(
    'SyncBlocked',
    ['Application'],
    'Present while a sync waits for a sync window of the AppProject, or for a step of the ApplicationSet.',
  ),
  condition(
    'FieldWarning',
    ['Application'],
    'Present while fields of the Application have no effect, or another effect than in Argo CD.',
  ),
  condition(
    'FieldsHonored',
    ['ManifestWork', 'ManifestWorkReplicaSet', 'ManagedClusterSet'],
    'False while parts of the object have no effect; absent otherwise.',
  ),
  condition('ClusterOffline', ['Application'], 'Present while the cluster is offline.'),
  condition('OrphanedResourceWarning', ['Application'], 'Present while objects are left on a former destination.'),
  condition(
    'ExcludedResourceWarning',
    ['Application'],
    'Present while `resource.exclusions` of ConfigMap `argocd-cm` leave objects of the Application out.',
  ),
  condition('ParametersGenerated', ['ApplicationSet'], 'True when the generators have run on all repositories.'),
  condition(
    'ErrorOccurred',
    ['ApplicationSet'],
    'True while the ApplicationSet, or one of its sets of parameters, cannot produce an Application.',
  ),
  condition(
    'ResourcesUpToDate',
    ['ApplicationSet'],
    'True when the Applications are as the ApplicationSet generates them.',
  ),
  condition('RolloutProgressing', ['ApplicationSet'], 'True while a step of RollingSync is not complete.'),
  condition(
    'InvalidRolloutConfig',
    ['ApplicationSet'],
    'True while `spec.strategy` cannot be used; no Application is synced.',
  ),
  condition(
    'Exact',
    ['GitRepo'],
    'True when every field of the GitRepo and its fleet.yaml files has the effect that it has in Rancher Fleet.',
  ),
]

/** The reasons, by the part of the product that sets them. */
export const REASON_GROUPS: readonly ReasonGroup[] = [
  {
    title: 'Sources',
    about: 'Reasons of the conditions Ready, Held, Stalled and Released of a Source.',
    reasons: [
      entry('Fetched', 'The newest revision is stored.'),
      entry('Fetching', 'The first fetch is in progress.'),
      entry('Suspended', '`spec.suspend` is true.', 'Run `flotilla source resume NAME`.'),
      entry('FetchFailed', 'The fetch failed for a reason that the message names. The hub retries.'),
      entry(
        'FetchStopped',
        'The fetch exceeded a limit of the hub and was stopped.',
        'Reduce the content, or raise the limit of the hub.',
      ),
      entry('TimedOut', 'The fetch took longer than `spec.timeout`.', 'Raise `spec.timeout`, or check the network.'),
      entry('Unreachable', 'The server did not answer.', 'Check the URL, the network and the proxy of the hub.'),
      entry(
        'HostNotFound',
        'The name of the host is not known.',
        'Correct the URL, or check the name servers of the hub.',
      ),
      entry('NotFound', 'The server has no content at the URL.', 'Correct the URL.'),
      entry(
        'Redirected',
        'The server redirects to an address that is not allowed.',
        'Use the final address in the URL.',
      ),
      entry(
        'AddressRefused',
        'The host has an address that Sources may not reach, or is not in the list of `--source-hosts`.',
        'Use another server, or ask the operator of the hub to add the host to `--source-hosts`.',
      ),
      entry(
        'AuthenticationFailed',
        'The server rejected the credentials.',
        'Correct the Secret of `spec.credentials`.',
      ),
      entry('SecretNotFound', 'The Secret of `spec.credentials` does not exist.', 'Create the Secret.'),
      entry(
        'BadCredentials',
        'The Secret has a key with an unusable value.',
        'Correct the key that the message names.',
      ),
      entry(
        'CredentialsMissing',
        'The Secret lacks keys that the protocol requires.',
        'Add the keys that the message names.',
      ),
      entry(
        'CredentialsNotForUrl',
        'The annotation `flotilla.dev/urls` of the Secret does not contain the URL.',
        'Add the URL to the annotation.',
      ),
      entry('CredentialsOverHttp', 'Credentials would be sent without TLS.', 'Use an `https` URL.'),
      entry(
        'KeyringMissing',
        '`spec.helm.verify` requires a keyring that the Secret does not have.',
        'Add the key `keyring` to the Secret.',
      ),
      entry(
        'NotVerified',
        'The signature of the chart, commit or tag is missing, or not of a key of the keyring.',
        'Check the origin of the content.',
      ),
      entry('ProxyNotUsed', '`spec.proxy` is set for an address that is not http or https.', 'Remove `spec.proxy`.'),
      entry(
        'DigestMismatch',
        'The content does not have the digest that the server announced.',
        'Check the registry or the mirror.',
      ),
      entry('RefNotFound', 'The repository does not have the branch, tag or commit.', 'Correct `spec.git.ref`.'),
      entry('ChartNotFound', 'The Helm repository does not have the chart.', 'Correct `spec.helm.chart`.'),
      entry('VersionNotFound', 'No version matches the range.', 'Correct the version range.'),
      entry('PathNotFound', 'A path of `spec.paths` does not exist in the revision.', 'Correct `spec.paths`.'),
      entry('BadRange', 'The version range cannot be parsed.', 'Correct the range.'),
      entry('BadUrl', 'The URL cannot be parsed or its scheme is not supported.', 'Correct the URL.'),
      entry('BadSource', 'Two fields of the spec contradict each other.', 'Correct the fields that the message names.'),
      entry('NothingToFetch', 'The spec has none of `git`, `helm` and `oci`.', 'Set exactly one of them.'),
      entry(
        'LocalPathNotAllowed',
        'The hub does not allow the local path.',
        'Start the hub with `--source-paths DIR`.',
      ),
      entry('BadMirrors', 'The ConfigMap with mirrors cannot be parsed.', 'Correct the ConfigMap.'),
      entry('BadIndex', 'The index of the Helm repository cannot be parsed.', 'Check the repository.'),
      entry('BadManifest', 'The OCI manifest cannot be used.', 'Check the artifact.'),
      entry('NoLayer', 'The artifact has no layer of the type in `spec.oci.mediaType`.', 'Correct the media type.'),
      entry('BadArchive', 'The archive is damaged or has an unsupported format.', 'Publish the archive again.'),
      entry(
        'BadFiles',
        'Two files of `spec.inline` have the same path, or a file cannot be unpacked.',
        'Correct `spec.inline.files`.',
      ),
      entry('BadCommit', 'The git server sent a commit that cannot be read.', 'Check the git server.'),
      entry(
        'BadPath',
        'A file has a name that cannot be stored.',
        'Rename the file, or exclude it with `spec.ignore`.',
      ),
      entry('BadLink', 'A symbolic link cannot be resolved.', 'Correct the link, or exclude it with `spec.ignore`.'),
      entry(
        'LinkOutside',
        'A symbolic link leaves the repository.',
        'Correct the link, or exclude it with `spec.ignore`.',
      ),
      entry(
        'Submodule',
        'The selected paths contain a git submodule that is not fetched.',
        'Set `spec.git.submodules`, or add the submodule as a Source of its own.',
      ),
      entry('SubmoduleFailed', 'The repository of a submodule cannot be read.', 'Check its address and the Secret.'),
      entry('FileTooLarge', 'A file exceeds the size limit.', 'Exclude the file with `spec.ignore`.'),
      entry('TooLarge', 'The content exceeds the size limit.', 'Select less with `spec.paths` and `spec.ignore`.'),
      entry(
        'TooManyFiles',
        'The content has more files than the limit.',
        'Select less with `spec.paths` and `spec.ignore`.',
      ),
      entry(
        'HistoryRewritten',
        'The branch was force-pushed: the new commit does not descend from the last one.',
        'Set `spec.accept` to the value of `status.held.accept`.',
      ),
      entry(
        'WentBack',
        'The newest revision is older than the last one.',
        'Set `spec.accept` to the value of `status.held.accept`.',
      ),
      entry(
        'ContentChanged',
        'A version that was fetched before has different content now.',
        'Set `spec.accept` to the value of `status.held.accept`.',
      ),
      entry('Released', 'All Bundles of the revision are rendered.'),
      entry(
        'PartlyReleased',
        'A Bundle of the revision cannot be rendered and is not part of the Release.',
        'Correct the Bundle that the message names.',
      ),
    ],
  },
  {
    title: 'Bundles',
    about: 'Reasons of the conditions of a Bundle.',
    reasons: [
      entry('Rendered', 'The content is rendered.'),
      entry(
        'PartlyRendered',
        'The content cannot be rendered for some clusters. These clusters keep their content.',
        'Correct the error that the message names.',
      ),
      entry(
        'RenderFailed',
        'The content cannot be rendered. All clusters keep their content.',
        'Correct the error; `flotilla render` shows it locally.',
      ),
      entry(
        'PlaintextSecret',
        'The repository contains a Secret as plaintext and does not allow it. All clusters keep their content.',
        'Move the value out of the repository, or annotate the Source or GitRepo with `flotilla.dev/secrets: Allow`.',
      ),
      entry(
        'AlreadyDelivered',
        'The repository contains Secrets as plaintext that clusters already have. The Secrets stay; new ones are refused.',
        'Move the values out of the repository, or annotate the Source or GitRepo with `flotilla.dev/secrets: Allow`.',
      ),
      entry('NoneFound', 'The repository has no plaintext Secrets any more, or now allows them.'),
      entry(
        'NoRolloutStrategy',
        'A change of the Bundle goes to all clusters in one ring.',
        'Set `spec.rollout.plan` to a RolloutPlan whose first ring is small.',
      ),
      entry(
        'NoGate',
        'No ring of the RolloutPlan has a soak time, a gate or an approval.',
        'Set `soak`, `gates` or `approvals` of the first ring.',
      ),
      entry('Staged', 'A change of the Bundle reaches its clusters in steps.'),
      entry(
        'TooManyVariants',
        'The clusters need more distinct contents than one Release can have.',
        'Use fewer inputs that differ between clusters.',
      ),
      entry(
        'NoClusters',
        'The content depends on the cluster, and the Placement selects no cluster.',
        'Check the Placement with `flotilla explain`.',
      ),
      entry(
        'NoContent',
        'The spec does not have exactly one of `manifests`, `manifestsFrom` and `source`.',
        'Correct the spec.',
      ),
      entry('SourceNotFound', 'The Source does not exist.', 'Create the Source, or correct `spec.source.name`.'),
      entry('SourceNotReady', 'The Source has no artifact yet.', 'Check the conditions of the Source.'),
      entry('ArtifactMissing', 'The artifact is not stored yet. The hub retries.'),
      entry(
        'ManifestsNotFound',
        'A ConfigMap or key of `spec.manifestsFrom` does not exist.',
        'Create the ConfigMap or key.',
      ),
      entry('InputNotFound', 'The ConfigMap, Secret or key of an input does not exist.', 'Create the object or key.'),
      entry(
        'InputNotAllowed',
        'The Secret of an input lacks the label `flotilla.dev/input: allowed`.',
        'Label the Secret.',
      ),
      entry('BadInput', 'An input cannot be read.', 'Correct the input that the message names.'),
      entry(
        'SecretInput',
        'An input is a Secret, and the Bundle is rendered or decrypted by the agent.',
        'Use `helm.valuesFrom`, or set `render.at: Hub` or `decryption.at: Hub`.',
      ),
      entry(
        'ValuesKeyChanged',
        'The Secret with the key of the secret values was changed.',
        'Restore the Secret from a backup.',
      ),
      entry(
        'DropHeld',
        'The guard stopped a change that removes more than allowed, or everything. Also on Placements, Clusters and ResourceBindings.',
        'Review the change with `flotilla guard list`, then correct it, or let it through with `flotilla guard release`.',
      ),
      entry('PlacementPending', 'The Placement is not decided yet. The hub retries.'),
      entry(
        'GrowthHeld',
        'The guard stopped a change that adds more than 1,000 bundles on clusters and more than doubles them. Also on Placements and GitRepos.',
        'Review the change with `flotilla guard list`, then correct it, or let it through with `flotilla guard release`.',
      ),
      entry('NameTaken', 'An object with the same name and different content exists.', 'Delete or rename the object.'),
      entry('Gathering', 'The hub waits for the other Bundles of the same commit.'),
      entry('RollingOut', 'The newest Release is being rolled out.'),
      entry('RolledOut', 'The newest Release is rolled out.'),
      entry('RolloutPaused', 'The Rollout of the newest Release is paused.', 'Run `flotilla rollout resume`.'),
      entry('RolloutAborted', 'The Rollout of the newest Release was aborted.', 'Publish a newer revision.'),
      entry(
        'RolloutFailed',
        'The Rollout of the newest Release stopped after failures.',
        'Run `flotilla rollout status`, then retry, roll back or publish a newer revision.',
      ),
      entry(
        'HeldBack',
        'The newest content was rolled back. The clusters run earlier content.',
        'Change the content, or run `flotilla release lift`.',
      ),
      entry(
        'MarkedBad',
        'The content was rolled back before and is not released again.',
        'Change the content, or run `flotilla release lift`.',
      ),
      entry(
        'RuleDenies',
        'A rule on rendered content denies the content of all clusters. All clusters keep their content.',
        'Correct the object that the message names, or create an exception; see [rules](../compliance.md#rules-on-rendered-content).',
      ),
      entry('Met', 'The released content meets all rules.'),
      entry('Excepted', 'Overrides with `spec.policy` are exceptions of all findings.'),
      entry(
        'NotMet',
        'The released content does not meet a rule that warns or audits, or that is newer than the content.',
        'Correct the object that the message names.',
      ),
      entry(
        'Denied',
        'A rule denies the content of some or all clusters. They keep their content.',
        'Correct the object that the message names, or create an exception.',
      ),
      entry(
        'RenderedInCluster',
        'Agents render the content, so the hub cannot evaluate the rules.',
        'Render on the hub, or use policies that agents evaluate.',
      ),
      entry('LintPassed', 'Lint has no findings in the rendered objects.'),
      entry('WarningsFound', 'Lint found warnings.', 'See [lint](../lint.md).'),
      entry('ErrorsFound', 'Lint found errors.', 'See [lint](../lint.md).'),
      entry(
        'PlacementEmpty',
        'The Placement selects no cluster.',
        'Run `flotilla explain` with the Placement and a cluster.',
      ),
      entry('AllExcluded', 'Variants of the Bundle exclude all selected clusters.', 'Correct `spec.variants`.'),
      entry('Placed', 'The Bundle reaches clusters again.'),
    ],
  },
  {
    title: 'Deliveries',
    about: 'Reasons of the conditions Ready and Admitted of a Delivery.',
    reasons: [
      entry('Admitted', 'All clusters of the Delivery may receive its content.'),
      entry('Delivered', 'The content is Ready on all clusters of the Delivery.'),
      entry('Delivering', 'Clusters have not reported the content as Ready yet.'),
      entry('DeliveryFailed', 'The content is Failed on a cluster, which the message names with its first error.'),
      entry('NotAdmitted', 'A cluster cannot receive the content; the condition Admitted names the reason.'),
      entry('ClusterNotFound', 'No Cluster has this name.', 'Add the cluster with `flotilla cluster add NAME`.'),
      entry('ClusterNotAccepted', 'The cluster is not accepted.', 'Run `flotilla cluster accept NAME`.'),
      entry(
        'ClusterLeaving',
        'The cluster is being decommissioned or deleted.',
        'Remove the cluster from the Delivery.',
      ),
      entry(
        'ProjectRefuses',
        'The Project of the namespace freezes the Delivery on a cluster, or the namespace has no Project. What runs stays.',
        'Change the Project, or add the namespace to one with `flotilla project add`.',
      ),
      entry(
        'ClusterFull',
        "The cluster's document has 500 entries, the maximum.",
        'Remove a Bundle or a Delivery from the cluster, or put more objects into one.',
      ),
      entry('SetNotFound', 'The set that the Delivery names is not stored on the hub. The hub retries.'),
    ],
  },
  {
    title: 'Add-ons of Open Cluster Management',
    about:
      'Reasons of the conditions Installed of a ClusterManagementAddOn, and Configured and Progressing of a ManagedClusterAddOn. The other reasons are those of Open Cluster Management.',
    reasons: [
      entry('Installed', 'The add-on is on all clusters that its Placements select; the message counts them.'),
      entry(
        'PlacementDecisionNotFound',
        'A Placement of the install strategy does not exist or is not decided. Nothing is installed or removed.',
        'Create the Placement.',
      ),
      entry('ConfigurationsConfigured', 'The add-on is rendered with its configurations.'),
      entry(
        'ConfigurationUnsupported',
        'The add-on cannot be rendered, for a reason that the message names. What is installed stays.',
        'Correct the object that the message names.',
      ),
      entry(
        'WaitingForRollout',
        'The cluster waits for its turn in the rollout of its Placement. What is installed stays.',
        'See `status.installProgressions` of the ClusterManagementAddOn.',
      ),
      entry(
        'PlacementUndecided',
        'No Placement says now what the cluster should have, for a reason that the message names. What is installed stays.',
      ),
      entry(
        'Failed',
        'The newest configurations cannot be rendered or applied; the message has the error.',
        'Correct the object that the message names.',
      ),
      entry('Completed', 'The newest configurations are applied, and the add-on was available with them.'),
    ],
  },
  {
    title: 'ManifestWorks',
    about:
      'Reasons of the conditions Applied, Admitted and FieldsHonored of a ManifestWork. The other reasons are those of Open Cluster Management.',
    reasons: [
      entry(
        'AppliedManifestWorkFailed',
        'The work, or one of its manifests, cannot be applied; `status.resourceStatus` has the error of the cluster.',
        'Correct the manifest.',
      ),
      entry('FieldsIgnored', 'Parts of the work have no effect.', 'Remove the parts that the message names.'),
      entry(
        'NamespaceTaken',
        'The namespace has the name of the cluster and another purpose. The work is not delivered; what runs stays.',
        'Label the namespace `open-cluster-management.io/cluster-name` with the name of the cluster.',
      ),
    ],
  },
  {
    title: 'Policies',
    about: 'Reasons of the conditions Compiled and DutiesMet of a Policy.',
    reasons: [
      entry(
        'Overdue',
        'Clusters do not comply, and their deadline has passed.',
        'See `flotilla compliance --duty overdue`.',
      ),
      entry('InTime', 'Clusters do not comply yet, and their deadline has not passed.', 'None.'),
      entry('Met', 'All clusters with a deadline comply.', 'None.'),
      entry(
        'InvalidTime',
        'The annotation `flotilla.dev/comply-within` of a binding cannot be read.',
        'Write a time such as `24h`, `7d` or `1w`.',
      ),
      entry('Compiled', 'The Policy is a Bundle of checks.', 'None.'),
      entry('Disabled', '`spec.disabled` is true. No cluster evaluates the Policy.', 'None.'),
      entry('NotBound', 'No PlacementBinding binds the Policy to clusters.', 'Create a PlacementBinding.'),
      entry(
        'PlacementUnknown',
        'A Placement of a binding does not exist or is not decided. The clusters keep what they evaluate.',
        'Create the Placement, or correct the binding.',
      ),
      entry(
        'InvalidPolicy',
        'The Policy has a mistake. The clusters keep what they evaluate.',
        'Correct the field that the message names.',
      ),
      entry(
        'NotSupported',
        'The Policy has a kind that agents do not evaluate. The clusters keep what they evaluate.',
        'Remove the template or dependency that the message names.',
      ),
      entry(
        'NameTaken',
        'The hub cannot create the Bundle or Placement of the Policy: one with the same name exists and was not created for the Policy.',
        'Rename the Policy, or the Bundle or Placement.',
      ),
      entry(
        'NotDelivered',
        'A guard, a Project or a mistake stops the Bundle of the Policy.',
        'See the Bundle or Placement that the message names.',
      ),
    ],
  },
  {
    title: 'Placements and windows',
    about:
      'Reasons of the condition Ready of Placements, Windows and ClusterWindows, and of the conditions Empty and Unguarded. DropHeld is listed at Bundles.',
    reasons: [
      entry(
        'GuardOff',
        '`spec.guard.maxDropped` is `100%`, so one change can deselect all clusters.',
        'Remove `spec.guard.maxDropped`, which then defaults to `10%`.',
      ),
      entry('Guarded', 'A change that deselects too many clusters is stopped.'),
      entry('Decided', 'The Placement selects at least one cluster.'),
      entry('NoClusters', 'The Placement selects no cluster.', 'Run `flotilla explain`.'),
      entry('Valid', 'The window is in force. Also: the JoinToken can be used.'),
      entry(
        'Misconfigured',
        'A selector, expression, time or time zone cannot be used. The last decisions stay in force.',
        'Correct the field that the message names.',
      ),
    ],
  },
  {
    title: 'Projects',
    about:
      'Reasons of the conditions Ready and Stalled of Sources, Bundles, Placements and Projects, and of Assigned of a Cluster. A Project freezes and never removes: clusters keep what they run.',
    reasons: [
      entry('Active', 'The Project is in effect: its limits apply to the namespaces that it lists.'),
      entry(
        'NoProject',
        'No Project lists the namespace of the object.',
        'Run `flotilla project add NAME --namespace NS`.',
      ),
      entry(
        'SeveralProjects',
        'Two or more Projects list the namespace, so it has no Project.',
        'Remove the namespace from `spec.namespaces` of all but one Project.',
      ),
      entry(
        'ProjectRefuses',
        'A field of the Project does not allow the object, or a quota of the Project is used up.',
        'Change the object, or the field of the Project that the message names.',
      ),
      entry(
        'ProjectFreezes',
        'The Project was changed and no longer allows content that clusters run. The clusters keep the content and get no updates of it.',
        'Change the object, or the field of the Project that the message names.',
      ),
      entry('RenderQuota', 'The Project has used up its renderings of this minute. The Bundle waits.'),
    ],
  },
  {
    title: 'Releases and Rollouts',
    about:
      'Reasons of the conditions of Releases and Rollouts. A Rollout with the condition Held names in its message what releases it.',
    reasons: [
      entry('RolloutMade', 'The Rollout of the Release exists.'),
      entry('PlanMissing', 'The RolloutPlan does not exist.', 'Create the RolloutPlan.'),
      entry('Superseded', 'A newer Rollout has taken over all Bundles.'),
      entry('NewerRelease', 'A newer Release has taken over all Bundles.'),
      entry('Progressing', 'Clusters are being admitted.'),
      entry('RingPassed', 'A ring has passed, and the next ring starts.'),
      entry('RolledOut', 'All clusters have the Release.'),
      entry('ReleaseMissing', 'The Release of the Rollout does not exist.', 'Delete the Rollout.'),
      entry('BundleDeleted', 'A Bundle of the Release was deleted.'),
      entry('PlacementPending', 'A Placement has no complete decisions.', 'Check the conditions of the Placement.'),
      entry('NoClusters', 'The Placement selects no cluster.', 'Run `flotilla explain`.'),
      entry('PredecessorOpen', 'An older Rollout of the same Bundle has not finished its removal.'),
      entry('Paused', 'The Rollout is paused.', 'Run `flotilla rollout resume`.'),
      entry('Aborted', 'The Rollout was aborted.', 'Publish a newer revision.'),
      entry('Soaking', 'The ring is Ready and waits for its soak time.'),
      entry(
        'RingShort',
        'Fewer clusters of the ring are Ready than `readyShare` or `minReady` require.',
        'Check the clusters that the message names.',
      ),
      entry(
        'NoRing',
        'Clusters belong to no ring and are never admitted.',
        'Add a ring without a selector to the RolloutPlan.',
      ),
      entry('BudgetFull', 'All slots of the ring are taken.'),
      entry('ReportPending', 'Admitted clusters have not reported yet.'),
      entry(
        'FailuresStopIt',
        'More clusters failed than `maxFailed` allows.',
        'Retry, roll back, or publish a newer revision.',
      ),
      entry('AllOffline', 'All remaining clusters are offline.', 'Check the agents.'),
      entry(
        'WindowClosed',
        'No window of the remaining clusters is open. Also set by agents.',
        'Wait, or use an exception with `flotilla rollout except`.',
      ),
      entry('Frozen', 'A freeze or a hold stops the remaining clusters.', 'Run `flotilla freeze list`.'),
      entry(
        'GenerationTaken',
        'A cluster already has this generation with different content.',
        'Edit the Bundle to create a newer generation.',
      ),
      entry('ApprovalPending', 'The ring waits for approvals.', 'Run `flotilla rollout approve`.'),
      entry('ApprovalRejected', 'A person rejected the ring.', 'The author of the Approval approves or deletes it.'),
      entry(
        'NotRendered',
        'The Bundle cannot be rendered for the remaining clusters.',
        'Correct the error that the message names.',
      ),
      entry(
        'GatePending',
        'A gate of the ring does not pass.',
        'Check the result of the gate in `status.rings[].gates`.',
      ),
      entry('RolledBack', 'The rollback has been created as a new Release.'),
      entry(
        'NothingToTakeBack',
        'There is nothing to roll back: newer Releases have the Bundles, or no cluster has them.',
      ),
    ],
  },
  {
    title: 'Clusters',
    about: 'Reasons of the conditions of a Cluster.',
    reasons: [
      entry('Accepted', 'The cluster may receive content.'),
      entry('NotAccepted', 'The cluster waits for acceptance.', 'Run `flotilla cluster accept NAME`.'),
      entry('Rejected', 'A person rejected the cluster.'),
      entry('Revoked', 'The access of the cluster was revoked, by a person or at the end of its decommissioning.'),
      entry('Seen', 'The agent contacted the hub within its offline tolerance.'),
      entry(
        'Silent',
        'The agent has not contacted the hub within its offline tolerance.',
        'Run `flotilla check` in the cluster.',
      ),
      entry('NeverSeen', 'The agent has not contacted the hub yet.', 'Check that the agent runs.'),
      entry(
        'HubBlind',
        'No gateway has written a summary recently; no cluster is marked offline.',
        'Check the hub and its gateways.',
      ),
      entry('NoSummary', 'No gateway has written a summary yet.'),
      entry('Running', 'The hub runs the agent of the cluster.'),
      entry('Starting', 'The agent that the hub runs connects to the cluster.'),
      entry(
        'Restarting',
        'The agent that the hub runs failed, and the hub starts it again.',
        'Read the log of the hub.',
      ),
      entry(
        'SecretNotFound',
        'The Secret of `spec.kubeconfigSecret`, or its key, does not exist.',
        'Create the Secret, or correct the name.',
      ),
      entry(
        'BadKubeconfig',
        'The hub cannot use the kubeconfig; the message names the field.',
        'Replace the kubeconfig in the Secret.',
      ),
      entry(
        'AddressRefused',
        'The hub may not connect to the server of the kubeconfig.',
        'Use another address, or list the host in `--push-hosts`.',
      ),
      entry(
        'Unreachable',
        'The API of the cluster does not answer the hub. The cluster is Offline after its offline tolerance.',
        'Check the cluster and the network; the hub tries again.',
      ),
      entry(
        'CredentialRefused',
        'The cluster refuses the credential of the kubeconfig.',
        'Replace the kubeconfig in the Secret.',
      ),
      entry(
        'NotAllowed',
        'The credential of the kubeconfig may not create the account of the agent; the message is that of the cluster.',
        'Use a credential that may create service accounts and cluster role bindings, for example one of an administrator.',
      ),
      entry(
        'OtherCluster',
        'The kubeconfig leads to another cluster than before.',
        'Register the other cluster under a name of its own, or delete the Cluster first.',
      ),
      entry(
        'PushDisabled',
        'This hub was started with `--no-push` and runs no agents.',
        'Start the hub without the flag, or run an agent in the cluster.',
      ),
      entry('Duplicate', 'An older Cluster has the same alias.', 'Remove the alias from one of the Clusters.'),
      entry(
        'TwoAgents',
        'Two agents use the identity of the cluster.',
        'Stop one agent, and join its cluster again with a new token.',
      ),
      entry('OneAgent', 'The second agent has stopped.'),
      entry('Ahead', "The agent's clock is ahead of the hub's clock.", 'Correct the clock.'),
      entry('Behind', "The agent's clock is behind the hub's clock.", 'Correct the clock.'),
      entry('InStep', "The agent's clock is correct again."),
      entry(
        'AgentAhead',
        'The agent holds a document that the hub does not know: the hub was restored from an older state.',
        'Restore the newer state, or run `flotilla hub new-epoch`.',
      ),
      entry('NewEpoch', 'The hub has started a new epoch, which replaces the document that the agent held.'),
      entry(
        'HubBehind',
        'The hub issues no documents, because an agent holds a newer document.',
        'Restore the newer state, or run `flotilla hub new-epoch`.',
      ),
      entry('Asked', 'The agent has been asked for a new sealing key.'),
      entry('Replaced', 'The agent has a new sealing key.'),
      entry('Followed', 'The agent follows the newest document.'),
      entry('Leaving', 'The content of the cluster is being removed or orphaned.'),
      entry('Cleared', 'All content of the cluster was removed or orphaned, or is listed as left in place.'),
      entry(
        'TooManyBundles',
        'The document of the cluster is full. New Bundles are left out; those in it still get updates.',
        'Select the cluster with fewer Placements.',
      ),
      entry(
        'TooManyWindows',
        'More windows and freezes concern the cluster than the limit.',
        'Run `flotilla freeze list` and lift some.',
      ),
      entry(
        'TooManyDriftDecisions',
        'More Overrides decide about drift on the cluster than the limit.',
        'Run `flotilla get overrides -A` and delete some.',
      ),
      entry('SetMissing', 'A set is missing in the blob storage.', 'Restore the blobs from a backup.'),
      entry(
        'ValuesUnreadable',
        'The secret values of a Bundle cannot be decrypted.',
        'Restore the key from a backup, or edit the Bundle.',
      ),
      entry('BadSealingKey', 'The sealing key of the cluster cannot be used.', 'Run `flotilla trust rotate sealing`.'),
    ],
  },
  {
    title: 'Join tokens',
    about: 'Reasons of the condition Usable of a JoinToken. Valid is listed at Placements and windows.',
    reasons: [
      entry('Expired', 'The token has expired.', 'Create a token with `flotilla cluster add`.'),
      entry(
        'UsedUp',
        'The token has been used the allowed number of times.',
        'Create a token with `flotilla cluster add`.',
      ),
      entry('BadNetwork', 'A network of the token cannot be parsed.', 'Correct the network.'),
    ],
  },
  {
    title: 'Refused documents',
    about:
      'Reasons why an agent refuses a document or other signed bytes; shown in condition DocumentRefused of the Cluster.',
    reasons: [
      entry('Malformed', 'The bytes cannot be parsed.', 'Check that hub and agent have compatible versions.'),
      entry('BadSignature', 'The signature is wrong.', 'Check the connection for a proxy that changes content.'),
      entry(
        'UnknownSigner',
        'The signer is not in the trust bundle of the agent.',
        'Check the key rotation with `flotilla trust export`.',
      ),
      entry(
        'WrongType',
        'The envelope contains a different type of content.',
        'Check that hub and agent have compatible versions.',
      ),
      entry('WrongDigest', 'The content does not have the announced digest.', 'Check the blob storage of the hub.'),
      entry(
        'WrongCluster',
        'The document is for another cluster.',
        'Check that two clusters do not share a data directory.',
      ),
      entry('OldEpoch', 'The document belongs to an earlier epoch.', 'Check that only one hub is running.'),
      entry(
        'UnprovenEpoch',
        'The document starts an epoch without proof of the root key.',
        'Run `flotilla hub new-epoch`.',
      ),
      entry(
        'OldRevision',
        'The document is older than the document that the agent follows.',
        'Check that only one hub is running.',
      ),
      entry('Equivocation', 'Two different documents have the same revision.', 'Check that only one hub is running.'),
      entry(
        'BrokenChain',
        'The document does not continue the document that the agent follows.',
        'Check that only one hub is running.',
      ),
      entry('MissingFeature', 'The document requires a feature that the agent does not have.', 'Update the agent.'),
      entry('AgentTooOld', 'The document requires a newer agent.', 'Update the agent.'),
    ],
  },
  {
    title: 'Agents',
    about: 'Reasons why an agent waits during an operation; shown in its log and in the message of the ClusterReport.',
    reasons: [
      entry('NoLink', 'Content is missing and the hub cannot be reached. The agent retries.'),
      entry('Establishing', 'A CustomResourceDefinition is not established yet.'),
      entry(
        'Contested',
        'Another field manager changes the object at the same time.',
        'Remove the field from one of the managers.',
      ),
      entry('Recreating', 'The object was deleted to change an immutable field and is being created again.'),
      entry('Removing', 'Objects are being deleted.'),
      entry('Hook', 'An uninstall hook is running.'),
      entry('Dependent', 'A Bundle that depends on this Bundle is removed first.'),
      entry('Later', 'The removal waits for another operation of the same Bundle.'),
    ],
  },
  {
    title: 'Argo CD',
    about:
      'Reasons of the conditions of an ApplicationSet. Conditions of an Application have no reasons, as in Argo CD.',
    reasons: [
      entry('ParametersGenerated', 'The generators have run.'),
      entry('ApplicationSetUpToDate', 'All Applications are as the ApplicationSet generates them.'),
      entry('ApplicationSetModified', 'Some Applications are missing; the message names the cause.'),
      entry(
        'ApplicationParamsGenerationError',
        'The ApplicationSet, or a part of it, cannot produce its Applications. Applications that exist stay.',
        'Correct what the message names.',
      ),
      entry('ErrorOccurred', 'An error stopped the generators; condition ErrorOccurred has it.'),
      entry('ApplicationSetRolloutComplete', 'All Applications that match a step are synced and healthy.'),
      entry(
        'InvalidConfiguration',
        'A step of `spec.strategy` cannot be read.',
        'Correct the field that the message names.',
      ),
    ],
  },
  {
    title: 'Rancher Fleet',
    about: 'Reasons of the conditions of the kinds of fleet.cattle.io.',
    reasons: [
      entry('Ready', 'All clusters are ready.'),
      entry('NotReady', 'Some clusters are not ready.'),
      entry(
        'NotGranted',
        'An agent of Fleet asked to join. Only agents of Flotilla can join.',
        'Run the command in the key `join` of the Secret of a ClusterRegistrationToken.',
      ),
      entry('GitUpdating', 'The repository is being fetched.'),
      entry('NoRepository', '`spec.repo` is empty.', 'Set `spec.repo`.'),
      entry('NoBundles', 'No Bundle was found at the paths.', 'Correct `spec.paths`.'),
      entry(
        'MadeByFleet',
        'Fleet made the Bundle for a GitRepo, a HelmOp or its own agent, so it is not delivered as it is.',
        'Create the GitRepo or HelmOp, or remove the label that the message names.',
      ),
      entry('Refused', 'A field has a value that is not supported.', 'Correct the field that the message names.'),
      entry(
        'Restricted',
        'A GitRepoRestriction of the namespace refuses the GitRepo. Clusters keep what they run, and the repository is not fetched.',
        'Change the field that the message names, or the GitRepoRestriction.',
      ),
      entry('BundleNotFound', 'The Bundle of flotilla.dev does not exist.'),
      entry('AllHasEffect', 'Every field has the effect that it has in Rancher Fleet.'),
      entry(
        'NotAllHasEffect',
        'A field has no effect, or another effect than in Rancher Fleet.',
        'See `status.findings`.',
      ),
    ],
  },
  {
    title: 'Flux',
    about: 'Reasons of the conditions of sources, Kustomizations and HelmReleases of toolkit.fluxcd.io.',
    reasons: [
      entry('Succeeded', 'The content of the repository is stored.'),
      entry('Progressing', 'The content is being fetched, built or delivered.'),
      entry('GitOperationFailed', 'The repository cannot be fetched. The hub retries.', 'See the message.'),
      entry(
        'IndexationFailed',
        'The index of the Helm repository cannot be read. The hub retries.',
        'See the message.',
      ),
      entry('BucketOperationFailed', 'The bucket cannot be read. The hub retries.', 'See the message.'),
      entry('OCIArtifactPullFailed', 'The artifact cannot be fetched. The hub retries.', 'See the message.'),
      entry('ChartPullError', 'The chart cannot be fetched. The hub retries.', 'See the message.'),
      entry('ChartPackageError', 'The directory of the chart has no readable `Chart.yaml`.', 'Correct `spec.chart`.'),
      entry(
        'SourceUnavailable',
        'The source of a HelmChart does not exist.',
        'Create the source, or correct `spec.sourceRef`.',
      ),
      entry('NoSourceArtifact', 'The source of a HelmChart has no artifact yet.', 'See the status of the source.'),
      entry(
        'SourceNotReady',
        'The chart of a HelmRelease has not been fetched yet.',
        'See the status of the HelmChart or OCIRepository.',
      ),
      entry(
        'ValuesError',
        'The values of a HelmRelease cannot be read. The hub retries.',
        'Correct `spec.valuesFrom`.',
      ),
      entry('InstallSucceeded', 'All clusters have the first version of the release.'),
      entry('UpgradeSucceeded', 'All clusters have the newest version of the release.'),
      entry('TestSucceeded', 'The tests of the chart succeeded on all clusters.'),
      entry('InstallFailed', 'The chart cannot be rendered, or its objects failed.', 'See the message.'),
      entry('UpgradeFailed', 'The chart cannot be rendered, or its objects failed.', 'See the message.'),
      entry('RollbackSucceeded', 'A cluster went back to the version before.', 'Correct the release.'),
      entry('RollbackFailed', 'A cluster could not go back to the version before.', 'See the message.'),
      entry('UninstallSucceeded', 'A cluster removed the release after it failed.', 'Correct the release.'),
      entry('ChartPullSucceeded', 'The chart was fetched.', 'None.'),
      entry('ChartPackageSucceeded', 'The chart was read from its source.', 'None.'),
      entry(
        'IncludeUnavailable',
        'A GitRepository in `spec.include` does not exist or has no artifact.',
        'Create the GitRepository, or correct `spec.include`.',
      ),
      entry(
        'ArtifactFailed',
        'The source does not exist or has no artifact.',
        'Create the source, or correct `spec.sourceRef`.',
      ),
      entry(
        'AccessDenied',
        'The object refers to an object in another namespace.',
        'Use an object in the namespace of the object.',
      ),
      entry('DependencyNotReady', 'An object in `spec.dependsOn` is missing or not ready. The hub retries.'),
      entry('InvalidCELExpression', 'A `readyExpr` cannot be evaluated.', 'Correct the expression.'),
      entry(
        'BadAnnotation',
        'An annotation of the object or its Namespace has a value that does not exist.',
        'Correct the annotation that the message names.',
      ),
      entry(
        'NoCluster',
        'No cluster is named or selected.',
        'Set the annotation `flotilla.dev/placement` on the object or its Namespace, or `spec.kubeConfig`.',
      ),
      entry('BuildFailed', 'The objects cannot be built.', 'Correct the content that the message names.'),
      entry('HealthCheckFailed', 'The objects of some clusters failed.', 'See `flotilla get bundlestates`.'),
      entry('ReconciliationFailed', 'The content cannot be delivered.', 'See the message.'),
      entry('ReconciliationSucceeded', 'All clusters have the revision.'),
    ],
  },
  {
    title: 'Open Cluster Management',
    about:
      'Reasons of the conditions of cluster.open-cluster-management.io that Open Cluster Management does not have. Its own reasons keep their meaning.',
    reasons: [
      entry(
        'ChangedInTurns',
        'Two writers change a label in turns.',
        'Remove the label from one of the writers that the message describes.',
      ),
      entry('Settled', 'No label is changed in turns any more.'),
      entry(
        'InvalidSelector',
        'The label selector of a ManagedClusterSet is invalid.',
        'Correct `spec.clusterSelector.labelSelector`.',
      ),
    ],
  },
  {
    title: 'Karmada',
    about: "Reasons of the conditions of Karmada's policies and bindings that Karmada does not have.",
    reasons: [
      entry(
        'TemplateNotFound',
        'The object of a binding is not on the hub, and was not deleted there. What runs stays.',
        'Create the object again, or delete the binding to remove it from its clusters.',
      ),
      entry(
        'ManyClustersUnreachable',
        'More than half of the clusters are out of reach, so replicas stay where they are.',
        'Look at the network of the hub. To move replicas nevertheless, change the placement.',
      ),
      entry('Invalid', 'Karmada refuses the policy, which has no effect.', 'Correct what the message names.'),
      entry('PartlySupported', 'The policy is in effect, without the fields that the message names.'),
    ],
  },
  {
    title: 'Errors of the hub process',
    about: 'Codes of errors that end the hub or a `flotilla hub` command.',
    reasons: [
      entry('BadConfig', 'A setting is unknown or has a wrong value.', 'Correct the setting that the message names.'),
      entry('DataDirectoryInUse', 'Another hub uses the data directory.', 'Stop that hub, or use another `--data`.'),
      entry('NoHub', 'The API server has no hub.', 'Start a hub, or use the kubeconfig of a hub.'),
      entry('KeysMissing', 'A key file is missing or damaged.', 'Restore the file from a backup.'),
      entry('KeysExist', 'The directory already has keys.', 'Give another directory, or rotate these keys.'),
      entry(
        'CredentialsMissing',
        'The directory has no credentials for S3.',
        'Write the files with the credentials of the account into the directory.',
      ),
      entry('RootKeyNeeded', 'The change needs the root key.', 'Provide the root key for this start.'),
      entry('ConsoleNotLoopback', 'The console listens on loopback addresses only.', 'Correct the address.'),
      entry('BadRule', 'The acceptance rule of an invitation cannot be compiled.', 'Correct the CEL expression.'),
      entry('NoDatabase', 'The directory is not a data directory of an embedded hub.', 'Correct the path.'),
      entry('NotEmpty', 'The target of a backup or restore exists.', 'Use another path.'),
      entry('NoBackup', 'The file is not a backup, or was not completed.', 'Correct the path.'),
      entry('BackupFailed', 'The backup cannot be written.', 'Run the backup again.'),
      entry('BackupDamaged', 'The backup is damaged.', 'Use another backup.'),
    ],
  },
]
