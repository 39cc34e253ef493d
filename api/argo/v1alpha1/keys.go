package v1alpha1

// Annotations on an Application.
const (
	// AnnotationRefresh asks for a refresh; its value is a RefreshType. The controller removes it once done.
	AnnotationRefresh = "argocd.argoproj.io/refresh"
	// AnnotationRefreshTimestamp is when the refresh was asked for, RFC 3339. It distinguishes repeated requests.
	AnnotationRefreshTimestamp = "argocd.argoproj.io/refresh-timestamp"
	// AnnotationHydrate asks for hydration; its value is a RefreshType.
	AnnotationHydrate = "argocd.argoproj.io/hydrate"
	// AnnotationHydrateTimestamp is when hydration was asked for, RFC 3339.
	AnnotationHydrateTimestamp = "argocd.argoproj.io/hydrate-timestamp"
	// AnnotationManifestGeneratePaths lists, separated by ";", the paths whose changes matter to the application.
	AnnotationManifestGeneratePaths = "argocd.argoproj.io/manifest-generate-paths"
	// AnnotationSkipReconcile with the value "true" makes the controller leave the application (or, on a cluster
	// secret, the cluster) alone.
	AnnotationSkipReconcile = "argocd.argoproj.io/skip-reconcile"
	// AnnotationCompareOptions holds comma-separated compare options; also on any object.
	AnnotationCompareOptions = "argocd.argoproj.io/compare-options"
	// AnnotationManagedByURL is the URL of the installation that looks after the application.
	AnnotationManagedByURL = "argocd.argoproj.io/managed-by-url"
	// AnnotationClientSideApplyMigrationManager names the field manager whose fields are taken over on the move to
	// server-side apply. Default DefaultClientSideApplyManager.
	AnnotationClientSideApplyMigrationManager = "argocd.argoproj.io/client-side-apply-migration-manager"
	// AnnotationDeletionApproved approves deletions that wait for a confirmation; its value is a time, RFC 3339.
	AnnotationDeletionApproved = "argocd.argoproj.io/deletion-approved"
	// AnnotationNoticePrefix starts the annotations of a notice shown with the application: content, severity, url,
	// permanent, icon, scope.
	AnnotationNoticePrefix = "notice.argocd.argoproj.io/"
	// AnnotationPreferencePrefix starts display preferences: default-view, default-pod-sort.
	AnnotationPreferencePrefix = "pref.argocd.argoproj.io/"
	// AnnotationSubscribePrefix starts notification subscriptions: <trigger>.<service>.
	AnnotationSubscribePrefix = "notifications.argoproj.io/subscribe."
	// AnnotationApplicationSetRefresh with the value "true", on an ApplicationSet, asks for a refresh of it.
	AnnotationApplicationSetRefresh = "argocd.argoproj.io/application-set-refresh"
)

// Annotations on any object of an application.
const (
	// AnnotationSyncOptions holds comma-separated sync options for the object.
	AnnotationSyncOptions = "argocd.argoproj.io/sync-options"
	// AnnotationSyncWave is the object's wave, a decimal integer. Default 0.
	AnnotationSyncWave = "argocd.argoproj.io/sync-wave"
	// AnnotationHook makes the object a hook; its value is a comma-separated list of HookTypes.
	AnnotationHook = "argocd.argoproj.io/hook"
	// AnnotationHookDeletePolicy holds a comma-separated list of HookDeletePolicies.
	AnnotationHookDeletePolicy = "argocd.argoproj.io/hook-delete-policy"
	// AnnotationTrackingID says which application the object belongs to: app:group/kind:namespace/name.
	AnnotationTrackingID = "argocd.argoproj.io/tracking-id"
	// AnnotationInstallationID distinguishes the objects of several installations in one cluster.
	AnnotationInstallationID = "argocd.argoproj.io/installation-id"
	// AnnotationIgnoreResourceUpdates with the value "true" lets ignore rules apply to an untracked object's updates.
	AnnotationIgnoreResourceUpdates = "argocd.argoproj.io/ignore-resource-updates"
	// AnnotationIgnoreHealthCheck with the value "true" leaves the object out of the application's health.
	AnnotationIgnoreHealthCheck = "argocd.argoproj.io/ignore-healthcheck"
	// AnnotationIgnoreRestartPolicy with the value "true", on a Pod, judges its health as if it always restarted.
	AnnotationIgnoreRestartPolicy = "argocd.argoproj.io/ignore-restart-policy"
	// AnnotationIgnoreDefaultLinks with the value "true" leaves out links drawn from the object's spec.
	AnnotationIgnoreDefaultLinks = "argocd.argoproj.io/ignore-default-links"
	// AnnotationLinkPrefix starts links shown with the object.
	AnnotationLinkPrefix = "link.argocd.argoproj.io/"
)

// Labels.
const (
	// LabelInstance is the default label of label tracking; its value is the application's name.
	LabelInstance = "app.kubernetes.io/instance"
	// LabelSecretType marks a Secret as configuration; its value is one of the SecretType constants.
	LabelSecretType = "argocd.argoproj.io/secret-type"
	// LabelAutoLabelClusterInfo with the value "true", on a cluster secret, asks for LabelKubernetesVersion.
	LabelAutoLabelClusterInfo = "argocd.argoproj.io/auto-label-cluster-info"
	// LabelKubernetesVersion is the cluster's Kubernetes version, on a cluster secret.
	LabelKubernetesVersion = "argocd.argoproj.io/kubernetes-version"
)

// Values of LabelSecretType.
const (
	SecretTypeCluster         = "cluster"
	SecretTypeRepository      = "repository"
	SecretTypeRepoCreds       = "repo-creds"
	SecretTypeRepositoryWrite = "repository-write"
	SecretTypeRepoWriteCreds  = "repo-write-creds"
	SecretTypeSCMCreds        = "scm-creds"
	// SecretTypeSOPS marks private keys for files that SOPS has encrypted. Argo CD has no such type and ignores it.
	SecretTypeSOPS = "sops"
)

// Finalizers.
const (
	// FinalizerResources, on an Application, deletes what it deployed before it goes (in the foreground).
	FinalizerResources = "resources-finalizer.argocd.argoproj.io"
	// FinalizerResourcesForeground is FinalizerResources with its default made explicit.
	FinalizerResourcesForeground = "resources-finalizer.argocd.argoproj.io/foreground"
	// FinalizerResourcesBackground is FinalizerResources with deletion in the background.
	FinalizerResourcesBackground = "resources-finalizer.argocd.argoproj.io/background"
	// FinalizerPreDelete, on an Application, holds it until its PreDelete hooks are done.
	FinalizerPreDelete = "pre-delete-finalizer.argocd.argoproj.io"
	// FinalizerPreDeleteCleanup, on an Application, holds it until its PreDelete hooks are cleaned up.
	FinalizerPreDeleteCleanup = "pre-delete-finalizer.argocd.argoproj.io/cleanup"
	// FinalizerPostDelete, on an Application, holds it until its PostDelete hooks are done.
	FinalizerPostDelete = "post-delete-finalizer.argocd.argoproj.io"
	// FinalizerPostDeleteCleanup, on an Application, holds it until its PostDelete hooks are cleaned up.
	FinalizerPostDeleteCleanup = "post-delete-finalizer.argocd.argoproj.io/cleanup"
	// FinalizerHook, on a hook object, holds it until the controller has seen its end.
	FinalizerHook = "argocd.argoproj.io/hook-finalizer"
)

// Well-known names and numbers.
const (
	// DefaultProject is the project of applications that name none.
	DefaultProject = "default"
	// InClusterName is the name of the cluster the controller itself runs in.
	InClusterName = "in-cluster"
	// InClusterServer is the URL of the cluster the controller itself runs in.
	InClusterServer = "https://kubernetes.default.svc"
	// DefaultRevisionHistoryLimit is how many history entries are kept where the spec says nothing.
	DefaultRevisionHistoryLimit = 10
	// DefaultClientSideApplyManager is the field manager that kubectl's client-side apply uses.
	DefaultClientSideApplyManager = "kubectl-client-side-apply"
)

// RefreshType is the value of AnnotationRefresh and AnnotationHydrate.
type RefreshType string

// Refresh types: normal uses caches, hard does not.
const (
	RefreshNormal RefreshType = "normal"
	RefreshHard   RefreshType = "hard"
)

// TrackingMethod is how an object says which application it belongs to.
type TrackingMethod string

// Tracking methods.
const (
	TrackingAnnotation         TrackingMethod = "annotation"
	TrackingLabel              TrackingMethod = "label"
	TrackingAnnotationAndLabel TrackingMethod = "annotation+label"
)

// Sync option names: what stands before "=" in syncOptions and AnnotationSyncOptions.
const (
	OptionPrune                       = "Prune"
	OptionDelete                      = "Delete"
	OptionValidate                    = "Validate"
	OptionSkipDryRunOnMissingResource = "SkipDryRunOnMissingResource"
	OptionApplyOutOfSyncOnly          = "ApplyOutOfSyncOnly"
	OptionPrunePropagationPolicy      = "PrunePropagationPolicy"
	OptionPruneLast                   = "PruneLast"
	OptionReplace                     = "Replace"
	OptionForce                       = "Force"
	OptionServerSideApply             = "ServerSideApply"
	OptionClientSideApplyMigration    = "ClientSideApplyMigration"
	OptionFailOnSharedResource        = "FailOnSharedResource"
	OptionRespectIgnoreDifferences    = "RespectIgnoreDifferences"
	OptionCreateNamespace             = "CreateNamespace"
)

// Sync option values: what stands after "=".
const (
	OptionTrue       = "true"
	OptionFalse      = "false"
	OptionConfirm    = "confirm"
	OptionForeground = "foreground"
	OptionBackground = "background"
	OptionOrphan     = "orphan"
)

// Compare options: the words allowed in AnnotationCompareOptions.
const (
	CompareIgnoreExtraneous       = "IgnoreExtraneous"
	CompareServerSideDiff         = "ServerSideDiff=true"
	CompareNoServerSideDiff       = "ServerSideDiff=false"
	CompareIncludeMutationWebhook = "IncludeMutationWebhook=true"
)

// SourceType is the tool that turns a source into objects.
type SourceType string

// Source types.
const (
	SourceTypeHelm      SourceType = "Helm"
	SourceTypeKustomize SourceType = "Kustomize"
	SourceTypeDirectory SourceType = "Directory"
	SourceTypePlugin    SourceType = "Plugin"
)

// SyncStatusCode compares desired with live.
type SyncStatusCode string

// Sync status codes.
const (
	SyncStatusUnknown   SyncStatusCode = "Unknown"
	SyncStatusSynced    SyncStatusCode = "Synced"
	SyncStatusOutOfSync SyncStatusCode = "OutOfSync"
)

// HealthStatusCode is the health of an object or application.
type HealthStatusCode string

// Health status codes, best first; the health of a whole is the worst of its parts.
const (
	HealthHealthy     HealthStatusCode = "Healthy"
	HealthSuspended   HealthStatusCode = "Suspended"
	HealthProgressing HealthStatusCode = "Progressing"
	HealthMissing     HealthStatusCode = "Missing"
	HealthDegraded    HealthStatusCode = "Degraded"
	HealthUnknown     HealthStatusCode = "Unknown"
)

// ResourceHealthLocation says where object health is kept.
type ResourceHealthLocation string

// ResourceHealthInTree means that object health is kept outside the Application.
const ResourceHealthInTree ResourceHealthLocation = "appTree"

// OperationPhase is how far an operation or a hook is.
type OperationPhase string

// Operation phases. Terminating becomes Failed; Error means that the operation could not be carried out,
// Failed that it was and went wrong.
const (
	OperationRunning     OperationPhase = "Running"
	OperationTerminating OperationPhase = "Terminating"
	OperationFailed      OperationPhase = "Failed"
	OperationError       OperationPhase = "Error"
	OperationSucceeded   OperationPhase = "Succeeded"
)

// Completed reports whether the phase is an end.
func (p OperationPhase) Completed() bool {
	return p == OperationFailed || p == OperationError || p == OperationSucceeded
}

// HydratePhase is how far a hydration is.
type HydratePhase string

// Hydrate phases.
const (
	HydrateHydrating HydratePhase = "Hydrating"
	HydrateFailed    HydratePhase = "Failed"
	HydrateHydrated  HydratePhase = "Hydrated"
)

// ResultCode is what a sync did with one object.
type ResultCode string

// Result codes.
const (
	ResultSynced       ResultCode = "Synced"
	ResultSyncFailed   ResultCode = "SyncFailed"
	ResultPruned       ResultCode = "Pruned"
	ResultPruneSkipped ResultCode = "PruneSkipped"
)

// SyncPhase is a part of a sync.
type SyncPhase string

// Sync phases, in their order; SyncFail takes the place of PostSync after a failure.
const (
	PhasePreSync  SyncPhase = "PreSync"
	PhaseSync     SyncPhase = "Sync"
	PhasePostSync SyncPhase = "PostSync"
	PhaseSyncFail SyncPhase = "SyncFail"
)

// HookType is when a hook runs.
type HookType string

// Hook types. Skip means that the object is never applied.
const (
	HookPreSync    HookType = "PreSync"
	HookSync       HookType = "Sync"
	HookPostSync   HookType = "PostSync"
	HookSyncFail   HookType = "SyncFail"
	HookSkip       HookType = "Skip"
	HookPreDelete  HookType = "PreDelete"
	HookPostDelete HookType = "PostDelete"
)

// HookDeletePolicy is when a hook object is deleted.
type HookDeletePolicy string

// Hook delete policies; BeforeHookCreation is the default.
const (
	HookDeleteSucceeded      HookDeletePolicy = "HookSucceeded"
	HookDeleteFailed         HookDeletePolicy = "HookFailed"
	HookDeleteBeforeCreation HookDeletePolicy = "BeforeHookCreation"
)

// ConditionType is what kind of error or warning a condition of an Application is.
type ConditionType string

// Condition types.
const (
	ConditionDeletionError           ConditionType = "DeletionError"
	ConditionInvalidSpecError        ConditionType = "InvalidSpecError"
	ConditionComparisonError         ConditionType = "ComparisonError"
	ConditionSyncError               ConditionType = "SyncError"
	ConditionUnknownError            ConditionType = "UnknownError"
	ConditionSharedResourceWarning   ConditionType = "SharedResourceWarning"
	ConditionRepeatedResourceWarning ConditionType = "RepeatedResourceWarning"
	ConditionExcludedResourceWarning ConditionType = "ExcludedResourceWarning"
	ConditionOrphanedResourceWarning ConditionType = "OrphanedResourceWarning"
)
